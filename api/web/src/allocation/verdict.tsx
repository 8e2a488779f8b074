import { useState } from 'preact/hooks';
import type { Allocation, Entry, Fault, Verdict } from '../api/answers.ts';
import { to } from '../route/route.ts';
import { quoted } from '../text/quoted.ts';
import { Told } from '../text/told.tsx';
import { count, sentence, told, words } from '../text/visible.ts';
import { When } from '../time/when.tsx';
import { now } from '../time/setting.ts';
import { millis, span } from '../time/time.ts';
import { Reasons } from './reasons.tsx';

export interface VerdictProps {
  allocation: Allocation;
  asOf: string | null;
  show(ref: string): void;
  showAll(): void;
}

// VerdictCard answers first whose it is, then why, then what next: it is read at three in the morning.
export function VerdictCard({ allocation: a, asOf, show, showAll }: VerdictProps) {
  const v = a.verdict;
  const entries = new Map(a.timeline.map((e) => [e.ref, e]));
  const open = v.faults.filter((f) => f.cleared_at === null);
  const over = v.faults.filter((f) => f.cleared_at !== null);
  return (
    <section class={`card verdict ${v.outcome}`} aria-labelledby="verdict">
      <h2 id="verdict" class="kicker">
        Verdict <Outcome verdict={v} />
      </h2>
      {v.outcome === 'none' && (
        <p class="owner">
          <b>No fault.</b> <Told text={sentence(v.explanation)} />
        </p>
      )}
      {v.outcome === 'undetermined' && <Undetermined verdict={v} />}
      {[...open, ...over].map((f, i) => (
        <OneFault
          key={`${f.rule} ${f.onset}`}
          fault={f}
          first={i === 0}
          contested={v.outcome === 'contested'}
          {...{ entries, show, showAll }}
        />
      ))}
      <Notes verdict={v} show={show} />
      <Reasons id={a.allocation_id} asOf={asOf} show={show} />
    </section>
  );
}

function Outcome({ verdict: v }: { verdict: Verdict }) {
  if (v.outcome === 'contested')
    return (
      <b class="contested">
        · contested: the evidence is as strong for {v.faults.map((f) => words(f.layer)).join(' as for ')}
      </b>
    );
  if (v.faults.length > 1) return <>· {v.faults.length} faults, each with evidence of its own</>;
  return null;
}

function Undetermined({ verdict: v }: { verdict: Verdict }) {
  return (
    <>
      <p class="owner">
        <b>Undetermined.</b> <Told text={sentence(v.explanation)} />
      </p>
      <div class="suspects">
        {v.missing.length > 0 && <Listing title="What would decide it" list={v.missing} />}
        {v.candidates.length > 0 && <Listing title="Who may own it" list={v.candidates} />}
      </div>
    </>
  );
}

function Listing({ title, list }: { title: string; list: { layer?: string; why?: string }[] }) {
  return (
    <div>
      <h3>{title}</h3>
      <ul>
        {list.map((c, i) => (
          <li key={i}>
            <b>{words(c.layer ?? '')}</b>: <Told text={c.why ?? ''} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface OneFaultProps {
  fault: Fault;
  first: boolean;
  contested: boolean; // another's evidence is as strong
  entries: Map<string, Entry>;
  show(ref: string): void;
  showAll(): void;
}

function OneFault({ fault: f, first, contested, entries, show, showAll }: OneFaultProps) {
  const q = quoted(f.summary);
  const [opened, setOpened] = useState(false);
  return (
    <article class={`fault ${first ? 'first' : ''} ${f.cleared_at ? 'over' : ''}`}>
      <p class="owner">
        <b class="layer">{sentence(words(f.layer))}</b>{' '}
        {contested ? 'may own it' : f.cleared_at ? 'owned it' : 'owns it'}:{' '}
        <b class="what">{<Told text={told(q.what)} />}</b>.
        <span class="lasting">
          {' '}
          {f.cleared_at ? (
            <>
              <When at={f.onset} />–<When at={f.cleared_at} />, over
            </>
          ) : (
            <>
              open since <When at={f.onset} />
            </>
          )}
        </span>
      </p>
      {q.quote && (
        <blockquote title={q.quote}>
          <span class="soft">{q.source} said</span> <Told text={q.quote} />
        </blockquote>
      )}
      {(f.next_check || f.safe_action) && (
        <dl class="next">
          {f.next_check && (
            <div>
              <dt>Next check</dt>
              <dd>
                <Told text={sentence(f.next_check)} />
              </dd>
            </div>
          )}
          {f.safe_action && (
            <div>
              <dt>Safe action</dt>
              <dd>
                <Told text={sentence(f.safe_action)} />
              </dd>
            </div>
          )}
        </dl>
      )}
      <p class="chips">
        {f.owner.team && (
          <span class="chip team">
            <span class="soft">call</span> <Told text={[f.owner.team, f.owner.contact].filter(Boolean).join(' · ')} />
          </span>
        )}
        <span class={`chip confidence ${f.confidence}`}>{f.confidence} confidence</span>
        <button type="button" class="chip act" aria-expanded={opened} onClick={() => setOpened(!opened)}>
          ◆ {count(f.evidence.length, 'record')} of evidence
        </button>
        {f.symptoms.length > 0 && (
          <button type="button" class="chip act" onClick={() => show(f.symptoms[0]!)}>
            ▲ {count(f.symptoms.length, 'symptom')}
          </button>
        )}
        {f.contradicting.length > 0 && (
          <button type="button" class="chip act" onClick={() => show(f.contradicting[0]!)}>
            {count(f.contradicting.length, 'record')} against it
          </button>
        )}
        <a class="chip" href={to.rules(f.rule)}>
          {f.rule}
        </a>
        <Runbook address={f.owner.runbook} />
      </p>
      {opened && <Evidence {...{ fault: f, entries, show, showAll }} />}
    </article>
  );
}

// A runbook comes of a profile; only a web address becomes a link.
function Runbook({ address }: { address: string | undefined }) {
  if (!address) return null;
  if (!/^https?:\/\//.test(address)) return <span class="chip">runbook: {address}</span>;
  return (
    <a class="chip" href={address} rel="noreferrer noopener" target="_blank">
      runbook ↗
    </a>
  );
}

const few = 6;

function Evidence({ fault: f, entries, show, showAll }: Omit<OneFaultProps, 'first' | 'contested'>) {
  const begun = millis(f.onset);
  return (
    <ol class="proof">
      {f.evidence.slice(0, few).map((ref) => {
        const e = entries.get(ref);
        return (
          <li key={ref}>
            <button type="button" onClick={() => show(ref)}>
              {e ? (
                <>
                  <When at={e.time} digits={3} /> <b>{words(e.layer)}</b> <Told text={e.summary} />
                </>
              ) : (
                ref
              )}
            </button>
          </li>
        );
      })}
      {f.evidence.length > few && (
        <li>
          <button type="button" onClick={showAll}>
            all {f.evidence.length}, in lanes and table <kbd>e</kbd>
          </button>
          <span class="soft"> · began {span(now.value - begun)} ago</span>
        </li>
      )}
    </ol>
  );
}

function Notes({ verdict: v, show }: { verdict: Verdict; show(ref: string): void }) {
  if (v.findings.length === 0) return null;
  return (
    <ul class="notes">
      {v.findings.slice(0, 4).map((f, i) => (
        <li key={i}>
          <span class="soft">{words(f.kind ?? 'note')}:</span> <Told text={f.summary ?? ''} />{' '}
          {f.refs?.[0] && (
            <button
              type="button"
              class="plain"
              onClick={() => show(f.refs![0]!)}
              aria-label={`Show the record of: ${words(f.kind ?? 'note')}`}
            >
              show
            </button>
          )}
        </li>
      ))}
      {v.findings.length > 4 && <li class="soft">and {v.findings.length - 4} more, in the Markdown copy</li>}
    </ul>
  );
}

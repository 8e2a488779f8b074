import { useEffect, useRef } from 'preact/hooks';
import type { Entry, FullEvent, Problem } from '../api/answers.ts';
import { glyphOf, type Mark } from '../lanes/mark.ts';
import { to } from '../route/route.ts';
import { Refused } from '../shell/refused.tsx';
import { Told } from '../text/told.tsx';
import { words } from '../text/visible.ts';
import { ago, full, millis, span } from '../time/time.ts';
import { now } from '../time/setting.ts';
import { Lines } from './lines.tsx';
import { viaInWords } from './via.ts';

export interface DrawerProps {
  entry: Pick<Entry, 'time' | 'observed_time' | 'layer' | 'source' | 'severity' | 'summary' | 'ids' | 'via' | 'ref'>;
  mark: Mark;
  note?: string; // what it means for the verdict
  raw: FullEvent | undefined;
  problem: Problem | undefined;
  allocation?: string; // whose timeline it is in: the lines around it can be read
  close(): void;
  focus?: boolean;
}

const noticeable = 500; // ms between clocks; below it, rounding and buffering look the same

// Drawer shows one record whole: when, whose, how it was resolved, and what was sent.
export function Drawer({ entry: e, mark, note, raw, problem, allocation, close }: DrawerProps) {
  const at = millis(e.time);
  const lag = millis(e.observed_time) - at;
  const m = glyphOf.get(mark)!;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.scrollIntoView?.({ block: 'nearest' }), [e.ref]);
  return (
    <aside class="drawer" aria-label="The selected record">
      <header>
        <h2 ref={heading}>
          <span class={`mark ${mark}`} aria-hidden="true">
            {m.glyph}
          </span>{' '}
          {m.word} · {words(e.layer) || 'no layer'} · {e.source}
        </h2>
        <button type="button" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
      <p class="summary">
        <Told text={e.summary} lines />
      </p>
      {note && <p class="note">{note}</p>}
      <dl>
        <dt>time</dt>
        <dd>
          {full(at)} <span class="soft">{ago(at, now.value)}</span>
        </dd>
        <dt>seen</dt>
        <dd>
          {span(lag)} {lag < 0 ? 'before it says that it happened' : 'later'}
          {Math.abs(lag) >= noticeable && (
            <b class="drift">
              {' '}
              · {lag < 0 ? 'its clock is ahead' : 'it came late, or its clock is behind'}; times stay as stamped
            </b>
          )}
        </dd>
        {e.severity && (
          <>
            <dt>severity</dt>
            <dd>{words(e.severity)}</dd>
          </>
        )}
        <dt>resolved</dt>
        <dd>{viaInWords(e.via)}</dd>
        {Object.entries(e.ids).map(([key, id]) => (
          <Identifier key={key} name={key} id={id} />
        ))}
        <dt>ref</dt>
        <dd class="mono">{e.ref}</dd>
      </dl>
      {problem && <Refused problem={problem} />}
      {raw && <Raw raw={raw} />}
      {raw && allocation !== undefined && <Lines key={e.ref} allocation={allocation} at={e.ref} />}
    </aside>
  );
}

function Identifier({ name, id }: { name: string; id: string }) {
  const kind = name.replace(/_id$/, '');
  const where =
    kind === 'allocation'
      ? to.allocation(id)
      : kind === 'node'
        ? to.node(id)
        : kind === 'trace'
          ? to.trace(id)
          : to.search(id);
  return (
    <>
      <dt>{words(kind)}</dt>
      <dd class="mono">
        <a href={where}>
          <Told text={id} />
        </a>
      </dd>
    </>
  );
}

function Raw({ raw }: { raw: FullEvent }) {
  const groups: [string, Record<string, string>][] = [
    ['attributes', raw.attributes],
    ['resource', raw.resource],
  ];
  return (
    <>
      {groups
        .filter(([, g]) => Object.keys(g).length > 0)
        .map(([name, g]) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl class="mono">
              {Object.entries(g).map(([key, value]) => (
                <Attribute key={key} name={key} value={value} />
              ))}
            </dl>
          </section>
        ))}
      <details>
        <summary>The record as it was sent</summary>
        <pre tabIndex={0}>
          <Told text={JSON.stringify(raw, null, 1)} lines />
        </pre>
      </details>
    </>
  );
}

function Attribute({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>
        <Told text={name} />
      </dt>
      <dd>
        <Told text={value} lines />
      </dd>
    </>
  );
}

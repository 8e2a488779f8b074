import { useState } from 'preact/hooks';
import type { FullEvent } from '../api/answers.ts';
import { Drawer } from '../records/drawer.tsx';
import { More, usePages } from '../records/pages.tsx';
import { rowOfRecord } from '../records/row.ts';
import { place, put, to } from '../route/route.ts';
import { Refused } from '../shell/refused.tsx';
import { useTitle } from '../shell/title.ts';
import { Told } from '../text/told.tsx';
import { words } from '../text/visible.ts';
import { clock, millis, span } from '../time/time.ts';
import { waterfall } from './waterfall.ts';

const most = 400; // rows at once

// TracePage is one trace as a waterfall, with the log records that carry it where they happened.
export function TracePage({ id }: { id: string }) {
  useTitle(`trace ${id}`);
  const pages = usePages('/api/v1/events', { query: { trace_id: id, limit: 1000 } });
  const { events, problem } = pages;
  const [shown, show] = useState(most);
  const steps = waterfall(events);
  const begin = Math.min(...steps.map((s) => s.from));
  const end = Math.max(...steps.map((s) => s.to), begin + 0.001);
  const ref = place.value.query.get('ref');
  const chosen = events.find((e) => e.ref === ref);
  const owners = [...new Set(events.map((e) => e.ids['allocation_id']).filter((a) => a !== undefined))];
  return (
    <div class={chosen ? 'with-drawer' : ''}>
      <h1>
        Trace <bdi class="mono">{id}</bdi>
      </h1>
      {problem && <Refused problem={problem} />}
      {pages.first.answer && (
        <p>
          {steps.length === 0
            ? 'No record carries it.'
            : `${clock(begin, 3)} UTC, ${span(end - begin)}, ${events.length} records.`}{' '}
          {owners.map((a) => (
            <a key={a} href={to.allocation(a)}>
              {a}{' '}
            </a>
          ))}
        </p>
      )}
      <ol class="waterfall card">
        {steps.slice(0, shown).map((s) => (
          <li
            key={s.event.ref}
            class={`${s.event.signal} ${failed(s.event) ? 'failed' : ''}`}
            aria-current={s.event.ref === ref ? 'true' : undefined}
          >
            <button type="button" onClick={() => put({ ref: s.event.ref })}>
              <span class="name" style={{ paddingInlineStart: `${Math.min(s.depth, 12) * 12}px` }}>
                {failed(s.event) && <span class="mark error">✕ </span>}
                <Told text={s.event.signal === 'span' ? (s.event.name ?? s.event.summary) : s.event.summary} />
              </span>
              <span class="soft source">
                {words(s.event.layer)} · {s.event.source}
              </span>
              <span class="track">
                <span
                  class="stretch"
                  style={{
                    left: `${((s.from - begin) / (end - begin)) * 100}%`,
                    width: `${Math.max(0.3, ((s.to - s.from) / (end - begin)) * 100)}%`,
                  }}
                />
              </span>
              <span class="number">
                {s.event.signal === 'span' ? span(s.to - s.from) : `+${span(millis(s.event.time) - begin)}`}
              </span>
            </button>
          </li>
        ))}
      </ol>
      {steps.length > shown ? (
        <p>
          <button type="button" onClick={() => show(shown + most)}>
            {steps.length - shown} more
          </button>
        </p>
      ) : (
        <More pages={pages} />
      )}
      {chosen && (
        <Drawer
          entry={chosen}
          mark={rowOfRecord(chosen).mark}
          raw={chosen}
          problem={undefined}
          close={() => put({ ref: null })}
        />
      )}
    </div>
  );
}

function failed(e: FullEvent): boolean {
  return e.severity === 'error' || e.severity === 'fatal' || e.status === 'error';
}

import { useEffect, useRef, useState } from 'preact/hooks';
import { glyphOf } from '../lanes/mark.ts';
import { relative } from '../time/setting.ts';
import { clock, day, millis, span } from '../time/time.ts';
import { oneLine, words } from '../text/visible.ts';
import type { Row } from './row.ts';

const high = 26; // px of a row; the style sheet says the same

export interface TableProps {
  rows: Row[];
  selected: number | null; // of rows
  select(row: number): void;
  label: string;
  lines?: number; // how many are seen at once
  origin?: number; // what relative times count from
}

// Table shows records, only as many rows as are seen: an allocation may have ten thousand.
export function Table({ rows, selected, select, label, lines = 14, origin }: TableProps) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const first = Math.max(0, Math.min(Math.floor(top / high) - 2, rows.length - lines));
  const shown = rows.slice(first, first + lines + 4);

  useEffect(() => {
    const b = box.current;
    if (!b || selected === null) return;
    const at = selected * high;
    if (at < b.scrollTop || at > b.scrollTop + b.clientHeight - 2 * high)
      b.scrollTop = Math.max(0, at - b.clientHeight / 2);
  }, [selected, rows]);

  const key = (e: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: lines, PageUp: -lines }[e.key];
    if (step === undefined || rows.length === 0) return;
    e.preventDefault();
    select(Math.max(0, Math.min(rows.length - 1, (selected ?? (step > 0 ? -1 : 0)) + step)));
  };

  const begin = origin ?? (rows[0] ? millis(rows[0].time) : 0);
  return (
    <div
      class="records"
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={
        selected !== null && selected >= first && selected < first + shown.length ? `row-${selected}` : undefined
      }
      tabIndex={0}
      ref={box}
      onScroll={(e) => setTop(e.currentTarget.scrollTop)}
      onKeyDown={key}
      style={{ maxHeight: `${(lines + 1) * high}px` }}
    >
      <div role="row" aria-rowindex={1} class="record head">
        {['Time', 'What', 'Layer', 'Source', 'Record'].map((name) => (
          <span role="columnheader" key={name}>
            {name}
          </span>
        ))}
      </div>
      <div role="rowgroup" class="rows" style={{ height: `${rows.length * high}px` }}>
        {shown.map((r, i) => {
          const n = first + i;
          const at = millis(r.time);
          const mark = glyphOf.get(r.mark)!;
          const fresh = n === 0 || day(at) !== day(millis(rows[n - 1]!.time));
          return (
            <div
              key={n}
              id={`row-${n}`}
              role="row"
              aria-rowindex={n + 2}
              aria-selected={n === selected}
              class={`record ${r.mark} ${r.kind === 'gap' ? 'gap' : ''}`}
              style={{ top: `${n * high}px` }}
              onClick={() => select(n)}
            >
              <span role="gridcell" title={fresh ? day(at) : undefined}>
                {relative.value ? `+${span(at - begin)}` : clock(at, 3)}
              </span>
              <span
                role="gridcell"
                class={`mark ${r.mark}`}
                title={r.kind === 'gap' ? 'silence' : mark.word}
                aria-label={r.kind === 'gap' ? 'silence' : mark.word}
              >
                {r.kind === 'gap' ? '▨' : mark.glyph}
              </span>
              <span role="gridcell">{words(r.layer)}</span>
              <span role="gridcell">{oneLine(r.source)}</span>
              <span role="gridcell" title={oneLine(r.summary)}>
                <bdi>{oneLine(r.summary)}</bdi>
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

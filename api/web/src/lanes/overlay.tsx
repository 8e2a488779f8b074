import type { ReadonlySignal } from '@preact/signals';
import type { Entry, Verdict } from '../api/answers.ts';
import { relative } from '../time/setting.ts';
import { clock, millis, span } from '../time/time.ts';
import { oneLine, words } from '../text/visible.ts';
import { ticks } from './axis.ts';
import type { View } from './draw.ts';
import { glyphOf } from './mark.ts';
import { rowHeight, type Item, type Scene } from './scene.ts';

export interface OverlayProps {
  scene: Scene;
  timeline: Entry[];
  verdict: Verdict;
  view: ReadonlySignal<View>;
  width: number;
  selected: number | null;
  hover: ReadonlySignal<{ item: Item; x: number; y: number } | null>;
  band: ReadonlySignal<{ x0: number; x1: number } | null>;
}

// Overlay holds few nodes, however many events there are: whatever is many lies on the canvas.
export function Overlay(p: OverlayProps) {
  return (
    <>
      <Picture {...p} />
      <Tip {...p} />
    </>
  );
}

function Picture({ scene: s, verdict, view, width, selected, band }: OverlayProps) {
  const v = view.value;
  const scale = width / (v.u1 - v.u0);
  const x = (u: number) => (u - v.u0) * scale;
  const inside = (u0: number, u1: number) => u1 >= v.u0 && u0 <= v.u1;
  const part = (u0: number, u1: number) => {
    const left = Math.max(-9, x(u0));
    return { x: left, width: Math.max(3, Math.min(width, x(u1)) - left) };
  };
  const middle = (lane: number) => s.lanes[lane]!.middle;
  const chosen = selected === null ? undefined : find(s, selected);
  const shownTies = s.ties.filter((t) => inside(Math.min(t.from.u, t.to.u), Math.max(t.from.u, t.to.u)));
  // where nothing is wrong, nothing stopped on its way
  const passed = s.handoffs
    .filter((h) => inside(h.u, h.u))
    .map((h) => ({ ...h, frontier: h.frontier && verdict.outcome !== 'none' }));
  const quiet = s.silences.filter((g) => inside(g.u0, g.u1));
  const free: number[] = []; // lane → where its last gap label ends
  let told = -Infinity; // where the last fold's label ends
  const fits = (from: number, to: number) => {
    const at = (from + to) / 2;
    if (to - from < 20 || at - 36 < told) return false;
    told = at + 36;
    return true;
  };
  return (
    <svg class="overlay" width={width} height={s.height} aria-hidden="true">
      <defs>
        <pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <line x1="0" y1="0" x2="0" y2="7" class="hatch" />
        </pattern>
      </defs>
      {s.axis.folds
        .filter((f) => inside(f.u0, f.u1))
        .map((f) => (
          <g key={f.from} class="fold">
            <rect {...part(f.u0, f.u1)} y={-18} height={s.height + 18} />
            {fits(x(f.u0), x(f.u1)) && (
              <text x={(x(f.u0) + x(f.u1)) / 2} y={-6} text-anchor="middle">
                ⋯ {span(f.to - f.from)}
              </text>
            )}
          </g>
        ))}
      <Ticks {...{ scene: s, v, width }} />
      {quiet.map((g, i) => {
        const at = part(g.u0, g.u1);
        const lane = s.lanes[g.lane]!;
        const room = Math.floor((width - Math.max(at.x, 4) - 10) / 6.2);
        const clash = (free[g.lane] ?? -1) > at.x;
        const label = g.label.length > room ? `${g.label.slice(0, Math.max(0, room - 1))}…` : g.label;
        if (!clash) free[g.lane] = Math.max(at.x, 4) + label.length * 6.2;
        return (
          <g key={i} class="silence">
            <rect {...at} y={lane.top} height={lane.height} rx="3" />
            {!clash && room > 8 && (
              <text x={Math.max(at.x, 4) + 5} y={lane.top + lane.height - (lane.items.length > 0 ? 4 : 9)}>
                {label}
              </text>
            )}
          </g>
        );
      })}
      {s.faults.map((f) => {
        if (!inside(f.u0, f.u1)) return null;
        const lane = s.lanes[f.lane]!;
        const at = part(f.u0, f.u1);
        return (
          <g key={f.fault} class={`fault ${f.open ? 'open' : 'cleared'}`}>
            <rect {...at} y={lane.top + 1} height={lane.height - 2} rx="4" />
            {lane.items.length === 0 && (
              <text x={Math.max(at.x, 0) + 8} y={lane.middle + 4}>
                ◆ {f.label}
                {verdict.faults[f.fault]!.owner.team && ` · ${oneLine(verdict.faults[f.fault]!.owner.team ?? '')}`}
                {verdict.faults[f.fault]!.cleared_at ? ', over' : ''}
              </text>
            )}
          </g>
        );
      })}
      <path
        class="ties"
        d={shownTies.map((t) => curve(x(t.from.u), heightOf(s, t.from), x(t.to.u), heightOf(s, t.to))).join('')}
      />
      <path
        class="handoffs"
        d={passed
          .filter((h) => !h.frontier)
          .map((h) => straight(x(h.u), middle(h.fromLane), middle(h.toLane)))
          .join('')}
      />
      {passed
        .filter((h) => h.frontier)
        .map((h, i) => (
          <g key={i} class="frontier">
            <path d={straight(x(h.u), middle(h.fromLane), middle(h.toLane))} />
            <circle cx={x(h.u)} cy={middle(h.toLane)} r="8" />
            {width > 560 && (
              <text
                x={x(h.u) + (x(h.u) > width / 2 ? -13 : 13)}
                y={(middle(h.fromLane) + middle(h.toLane)) / 2 + 4}
                text-anchor={x(h.u) > width / 2 ? 'end' : 'start'}
              >
                {oneLine(`proven up to here: ${h.what}, ${words(h.state)}`)}
              </text>
            )}
          </g>
        ))}
      {chosen && inside(chosen.u0, chosen.u1) && (
        <g class="chosen">
          <line x1={x(chosen.u0)} x2={x(chosen.u0)} y1={-18} y2={s.height} />
          <circle cx={Math.max(x(chosen.u0), 0)} cy={heightOf(s, chosen)} r="9" />
        </g>
      )}
      {band.value && (
        <rect class="band" x={band.value.x0} width={band.value.x1 - band.value.x0} y={0} height={s.height} />
      )}
    </svg>
  );
}

function Ticks({ scene: s, v, width }: { scene: Scene; v: View; width: number }) {
  const apart = width < 500 ? 80 : 100;
  const { step, ticks: shown } = ticks(s.axis, v.u0, v.u1, (apart / width) * (v.u1 - v.u0));
  const scale = width / (v.u1 - v.u0);
  const digits = step < 1000 ? 3 : 0;
  const taken = s.axis.folds.map((f) => [(f.u0 - v.u0) * scale - 18, (f.u1 - v.u0) * scale + 18] as const);
  return (
    <g class="ticks">
      {shown.map((t) => {
        const x = (t.u - v.u0) * scale;
        const label = taken.every(([a, b]) => x < a - 8 || x > b + 8);
        return (
          <g key={t.time}>
            <line x1={x} x2={x} y1={0} y2={s.height} />
            {label && (
              <text x={x} y={-6} text-anchor={x < 30 ? 'start' : x > width - 30 ? 'end' : 'middle'}>
                {relative.value
                  ? since(t.time - s.axis.from)
                  : step >= 60_000
                    ? clock(t.time).slice(0, 5)
                    : clock(t.time, digits)}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}

// heightOf is where an item lies in its lane: among the points, or in its row of bars.
function heightOf(s: Scene, i: { lane: number; row: number }): number {
  const lane = s.lanes[i.lane]!;
  return i.row < 0 ? lane.middle : lane.barTop + i.row * rowHeight + (rowHeight - 3) / 2;
}

const since = (ms: number) => (ms < 0 ? `−${span(-ms)}` : `+${span(ms)}`);

function curve(x0: number, y0: number, x1: number, y1: number): string {
  const y = (y0 + y1) / 2;
  return `M${x0.toFixed(1)} ${y0}C${x0.toFixed(1)} ${y} ${x1.toFixed(1)} ${y} ${x1.toFixed(1)} ${y1}`;
}

// straight is an arrow from lane to lane; its head is part of the path, so that all of them are one node.
function straight(x: number, y0: number, y1: number): string {
  const d = y1 > y0 ? -1 : 1;
  const end = y1 + d * 6;
  return `M${x.toFixed(1)} ${y0}V${end}m-3 ${d * 4}l3 ${-d * 4}l3 ${d * 4}`;
}

function find(s: Scene, index: number): Item | undefined {
  for (const lane of s.lanes) {
    const found = lane.items.find((i) => i.index === index) ?? lane.bars.find((b) => b.index === index);
    if (found) return found;
  }
  return undefined;
}

function Tip({ timeline, hover, width }: OverlayProps) {
  const h = hover.value;
  const e = h && timeline[h.item.index];
  if (!h || !e) return null;
  const mark = glyphOf.get(h.item.mark)!;
  return (
    <div
      class="tip"
      style={{ left: `${Math.min(h.x + 14, Math.max(0, width - 380))}px`, top: `${h.y + 18}px` }}
      aria-hidden="true"
    >
      <span class={`mark ${h.item.mark}`}>{mark.glyph}</span> <b>{clock(millis(e.time), 3)}</b> {words(e.source)} ·{' '}
      {mark.word}
      <br />
      <bdi>{oneLine(e.summary).slice(0, 260)}</bdi>
    </div>
  );
}

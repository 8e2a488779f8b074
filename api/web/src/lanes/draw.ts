import { column, density } from './density.ts';
import { marks, weight, type Mark } from './mark.ts';
import { rowHeight, type Item, type Lane, type Scene } from './scene.ts';

// Palette is read from the style sheet, so that a theme is one place.
export type Palette = Record<Mark | 'lane' | 'ink' | 'soft' | 'line' | 'panel' | 'bar' | 'barEdge' | 'wrong', string>;

export function palette(of: Element): Palette {
  const style = getComputedStyle(of);
  const v = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    evidence: v('cause'),
    symptom: v('symptom'),
    error: v('bad'),
    human: v('ink'),
    ordinary: v('event'),
    heartbeat: v('faint'),
    lane: v('lane'),
    ink: v('ink'),
    soft: v('soft'),
    line: v('line'),
    panel: v('panel'),
    bar: v('bar'),
    barEdge: v('bar-edge'),
    wrong: v('bad'),
  };
}

export interface View {
  u0: number;
  u1: number;
}

const upwards = [...marks].reverse().map((m) => m.mark); // the least first, so that evidence lies on top

// draw paints lanes, bars and points. Labels that must be read, gaps, ties and the selection lie over it.
export function draw(g: CanvasRenderingContext2D, s: Scene, v: View, width: number, p: Palette): void {
  g.clearRect(0, 0, width, s.height);
  const scale = width / (v.u1 - v.u0);
  for (const lane of s.lanes) {
    g.fillStyle = p.lane;
    round(g, 0, lane.top, width, lane.height, 5);
    g.fill();
    g.save();
    g.beginPath();
    g.rect(0, lane.top, width, lane.height);
    g.clip();
    for (const bar of lane.bars) drawBar(g, lane, bar, v, scale, width, p);
    drawPoints(g, lane, v, scale, width, p);
    g.restore();
  }
}

function drawBar(
  g: CanvasRenderingContext2D,
  lane: Lane,
  b: Item,
  v: View,
  scale: number,
  width: number,
  p: Palette,
): void {
  const x = (b.u0 - v.u0) * scale;
  const right = (b.u1 - v.u0) * scale;
  if (right < 0 || x > width) return;
  const y = lane.barTop + b.row * rowHeight;
  const wide = Math.max(3, right - x);
  const high = rowHeight - 3;
  const edge = b.mark === 'ordinary' || b.mark === 'heartbeat' ? p.barEdge : p[b.mark];
  round(g, x, y, wide, high, 3);
  g.globalAlpha = b.mark === 'ordinary' ? 1 : 0.16;
  g.fillStyle = b.mark === 'ordinary' ? p.bar : edge;
  g.fill();
  g.globalAlpha = 1;
  g.lineWidth = 1;
  g.strokeStyle = edge;
  if (b.open) g.setLineDash([4, 3]);
  g.stroke();
  g.setLineDash([]);
  const from = Math.max(x, 0);
  const room = Math.min(right, width) - from - 8;
  if (room > 22 && b.label !== '') {
    g.fillStyle = p.ink;
    g.font = '10.5px system-ui, sans-serif';
    g.textBaseline = 'middle';
    g.fillText(fitted(g, b.label, room), from + 5, y + high / 2 + 0.5);
  }
  if (b.failed) shape(g, 'error', Math.min(right, width) - 1, y + high / 2, 3, p);
}

const widths = new Map<string, number>();

function fitted(g: CanvasRenderingContext2D, label: string, room: number): string {
  let wide = widths.get(label);
  if (wide === undefined) {
    if (widths.size > 2000) widths.clear();
    widths.set(label, (wide = g.measureText(label).width));
  }
  if (wide <= room) return label;
  const fits = Math.floor((label.length * room) / wide) - 1;
  return fits < 2 ? '' : `${label.slice(0, fits)}…`;
}

function drawPoints(g: CanvasRenderingContext2D, lane: Lane, v: View, scale: number, width: number, p: Palette): void {
  const seen = density(lane.items, v.u0, v.u1, width);
  const y = lane.middle;
  if (seen.crowded) {
    const foot = lane.top + 24;
    for (const stack of seen.stacks) {
      let at = foot;
      const unit = Math.min(20, 3 + 4.2 * Math.log2(1 + stack.total)) / stack.total;
      for (const mark of [...upwards].reverse()) {
        const n = stack.counts[mark];
        if (!n) continue;
        const high = Math.max(1, n * unit);
        g.fillStyle = p[mark];
        g.fillRect(stack.x, at - high, column - 1, high);
        at -= high;
      }
    }
  } else {
    g.globalAlpha = 0.55;
    for (const i of seen.single) {
      const wide = (i.u1 - i.u0) * scale;
      if (wide < 4) continue;
      g.fillStyle = p[i.mark];
      g.fillRect((i.u0 - v.u0) * scale, y - 2, wide, 4);
    }
    g.globalAlpha = 1;
  }
  for (const mark of upwards) {
    const least = seen.crowded ? 3.4 : 1;
    for (const i of seen.single) {
      if (i.mark !== mark) continue;
      const high = seen.crowded ? lane.top + 6 : y;
      shape(g, mark, (i.u0 - v.u0) * scale, high, Math.max(least, radius[mark]), p);
    }
  }
}

const radius: Record<Mark, number> = { evidence: 5.2, symptom: 4.6, error: 3.6, human: 4, ordinary: 3, heartbeat: 1.4 };

function shape(g: CanvasRenderingContext2D, mark: Mark, x: number, y: number, r: number, p: Palette): void {
  g.fillStyle = p[mark];
  g.beginPath();
  switch (mark) {
    case 'evidence':
      g.moveTo(x, y - r);
      g.lineTo(x + r, y);
      g.lineTo(x, y + r);
      g.lineTo(x - r, y);
      break;
    case 'symptom':
      g.moveTo(x, y - r);
      g.lineTo(x + r, y + r * 0.8);
      g.lineTo(x - r, y + r * 0.8);
      break;
    case 'error':
      g.strokeStyle = p[mark];
      g.lineWidth = 2;
      g.moveTo(x - r, y - r);
      g.lineTo(x + r, y + r);
      g.moveTo(x + r, y - r);
      g.lineTo(x - r, y + r);
      g.stroke();
      return;
    case 'human':
      g.rect(x - r, y - r, 2 * r, 2 * r);
      break;
    case 'heartbeat':
      g.rect(x - 0.75, y + 2, 1.5, 6);
      break;
    case 'ordinary':
      g.arc(x, y, r, 0, 7);
  }
  g.closePath();
  g.fill();
  if (weight[mark] >= weight.human) {
    g.strokeStyle = p.lane;
    g.lineWidth = 1;
    g.stroke();
  }
}

function round(g: CanvasRenderingContext2D, x: number, y: number, w: number, h: number, r: number): void {
  g.beginPath();
  g.roundRect(x, y, w, h, Math.min(r, w / 2));
}

// hit is what lies under a place of the picture: the weightiest of the nearest.
export function hit(s: Scene, v: View, width: number, x: number, y: number): Item | undefined {
  const scale = width / (v.u1 - v.u0);
  const lane = s.lanes.find((l) => y >= l.top && y < l.top + l.height);
  if (!lane) return undefined;
  if (lane.rows > 0 && y >= lane.barTop) {
    const at = Math.floor((y - lane.barTop) / rowHeight);
    const u = v.u0 + x / scale;
    const bar = lane.bars.findLast(
      (b) => b.row === at && b.u0 - 3 / scale <= u && u <= Math.max(b.u1, b.u0 + 3 / scale) + 3 / scale,
    );
    if (bar) return bar;
  }
  let best: Item | undefined;
  let least = 9;
  for (const i of lane.items) {
    const away = Math.abs((i.u0 - v.u0) * scale - x) - weight[i.mark] * 0.6;
    if (away < least) {
      least = away;
      best = i;
    }
  }
  return best;
}

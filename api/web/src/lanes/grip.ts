import type { Signal } from '@preact/signals';
import type { View } from './draw.ts';

export interface Gripped {
  view: Signal<View>;
  band: Signal<{ x0: number; x1: number } | null>;
  width(): number;
  pick(x: number, y: number): void;
  point(x: number, y: number): void; // negative: nowhere
}

const least = 1e-7; // of the line: finer than any clock

export function clamped(v: View): View {
  const size = Math.min(1, Math.max(least, v.u1 - v.u0));
  const u0 = Math.min(1 - size, Math.max(0, v.u0));
  return { u0, u1: u0 + size };
}

export function zoomed(v: View, by: number, around: number): View {
  return clamped({ u0: around - (around - v.u0) * by, u1: around + (v.u1 - around) * by });
}

export function moved(v: View, by: number): View {
  return clamped({ u0: v.u0 + by, u1: v.u1 + by });
}

// grips are what mouse, pen and fingers do to the lanes: drag selects a time to zoom to, Shift-drag and one finger pan, two
// fingers and the wheel zoom. The wheel scrolls the page until the lanes have the focus: nobody's page stands still by surprise.
export function grips(field: HTMLElement, g: Gripped): () => void {
  const fingers = new Map<number, number>(); // pointer → x
  let begun: { x: number; y: number; view: View; pan: boolean } | null = null;
  let pinch = 0;
  const stop = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(name: K, f: (e: HTMLElementEventMap[K]) => void, passive = true) =>
    field.addEventListener(name, f, { signal: stop.signal, passive });
  const place = (e: MouseEvent) => {
    const box = field.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  };
  const at = (x: number) => {
    const v = g.view.peek();
    return v.u0 + (x / g.width()) * (v.u1 - v.u0);
  };
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return a === undefined || b === undefined ? 0 : Math.abs(a - b);
  };

  on('pointerdown', (e) => {
    if (e.button !== 0) return;
    const p = place(e);
    fingers.set(e.pointerId, p.x);
    field.setPointerCapture(e.pointerId);
    if (fingers.size === 2) {
      pinch = spread();
      begun = null;
      g.band.value = null;
      return;
    }
    begun = { ...p, view: g.view.peek(), pan: e.shiftKey || e.pointerType === 'touch' };
  });
  on('pointermove', (e) => {
    const p = place(e);
    if (!fingers.has(e.pointerId)) return g.point(p.x, p.y);
    fingers.set(e.pointerId, p.x);
    if (fingers.size === 2) {
      const now = spread();
      const [a = 0, b = 0] = [...fingers.values()];
      if (now > 10 && pinch > 10) g.view.value = zoomed(g.view.peek(), pinch / now, at((a + b) / 2));
      pinch = now;
      return;
    }
    if (!begun || Math.abs(p.x - begun.x) < 4) return;
    if (begun.pan) g.view.value = moved(begun.view, ((begun.x - p.x) / g.width()) * (begun.view.u1 - begun.view.u0));
    else g.band.value = { x0: Math.min(begun.x, p.x), x1: Math.max(begun.x, p.x) };
  });
  const end = (e: PointerEvent) => {
    if (!fingers.delete(e.pointerId) || !begun) return;
    const p = place(e);
    const band = g.band.peek();
    if (band && e.type === 'pointerup') g.view.value = clamped({ u0: at(band.x0), u1: at(band.x1) });
    else if (Math.abs(p.x - begun.x) < 4 && e.type === 'pointerup') g.pick(p.x, p.y);
    g.band.value = null;
    begun = null;
  };
  on('pointerup', end);
  on('pointercancel', end);
  on('pointerleave', () => g.point(-1, -1));
  on(
    'wheel',
    (e) => {
      const sideways = Math.abs(e.deltaX) > Math.abs(e.deltaY) ? e.deltaX : e.shiftKey ? e.deltaY : 0;
      const v = g.view.peek();
      if (sideways !== 0) {
        e.preventDefault();
        g.view.value = moved(v, (sideways / g.width()) * (v.u1 - v.u0));
      } else if (document.activeElement === field || e.ctrlKey || e.metaKey) {
        e.preventDefault();
        g.view.value = zoomed(v, Math.exp(Math.max(-60, Math.min(60, e.deltaY)) * 0.004), at(place(e).x));
      }
    },
    false,
  );
  return () => stop.abort();
}

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { signal, type Signal } from '@preact/signals';
import type { Entry, Verdict } from '../api/answers.ts';
import { scheme } from '../shell/theme.ts';
import { words } from '../text/visible.ts';
import { draw, hit, palette, type View } from './draw.ts';
import { grips } from './grip.ts';
import { Overlay } from './overlay.tsx';
import type { Item, Scene } from './scene.ts';

export interface LanesProps {
  scene: Scene;
  timeline: Entry[];
  verdict: Verdict;
  view: Signal<View>;
  selected: number | null;
  select(index: number | null): void;
}

// Lanes draws the timeline, a lane per layer: the canvas holds what is many, the overlay what must be sharp, read or grasped.
export function Lanes({ scene, timeline, verdict, view, selected, select }: LanesProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const field = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const hover = useMemo(() => signal<{ item: Item; x: number; y: number } | null>(null), []);
  const band = useMemo(() => signal<{ x0: number; x1: number } | null>(null), []);

  useLayoutEffect(() => {
    const box = field.current!;
    const measure = () => setWidth(Math.max(120, Math.floor(box.clientWidth)));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(box);
    return () => watch.disconnect();
  }, []);

  useEffect(() => {
    if (width === 0) return;
    const c = canvas.current!;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    c.width = width * ratio;
    c.height = scene.height * ratio;
    const g = c.getContext('2d')!;
    const colours = palette(c);
    let frame = 0;
    const paint = () => {
      frame = 0;
      g.setTransform(ratio, 0, 0, ratio, 0, 0);
      draw(g, scene, view.peek(), width, colours);
      if (!c.dataset['drawn']) {
        c.dataset['drawn'] = 'true';
        performance.mark('lanes');
      }
    };
    paint();
    const stop = view.subscribe(() => (frame ||= requestAnimationFrame(paint)));
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [scene, width, scheme.value]);

  const latest = useRef({ scene, width, select });
  latest.current = { scene, width, select };
  useEffect(
    () =>
      grips(field.current!, {
        view,
        band,
        width: () => latest.current.width,
        pick: (x, y) => {
          const l = latest.current;
          const item = hit(l.scene, view.peek(), l.width, x, y);
          l.select(item ? item.index : null);
        },
        point: (x, y) => {
          const l = latest.current;
          const item = x < 0 ? undefined : hit(l.scene, view.peek(), l.width, x, y);
          if (item?.index !== hover.peek()?.item.index || !item) hover.value = item ? { item, x, y } : null;
          field.current!.style.cursor = item ? 'pointer' : 'crosshair';
        },
      }),
    [],
  );

  return (
    <div class="lanes">
      <ol class="names" aria-label="Layers, in causal order">
        {scene.lanes.map((l, i) => (
          <li
            key={l.layer}
            title={l.team && `owner: ${l.team}`}
            style={{ top: `${l.top}px`, height: `${l.height}px` }}
            class={scene.faults.some((f) => f.lane === i) ? 'blamed' : ''}
          >
            <span>{words(l.layer) || 'no layer'}</span>
          </li>
        ))}
      </ol>
      <div
        class="field"
        ref={field}
        style={{ height: `${scene.height}px` }}
        tabIndex={0}
        role="application"
        aria-roledescription="timeline"
        aria-label={`Timeline of ${timeline.length} entries in ${scene.lanes.length} layers. Arrow keys go from event to event, plus and minus zoom, Shift with arrows moves. The table below has the same.`}
      >
        <canvas ref={canvas} aria-hidden="true" style={{ width: `${width}px`, height: `${scene.height}px` }} />
        {width > 0 && <Overlay {...{ scene, timeline, verdict, view, width, selected, hover, band }} />}
      </div>
    </div>
  );
}

import { useEffect } from 'preact/hooks';
import { signal } from '@preact/signals';

export type Liveness = 'off' | 'live' | 'polling';

// pollEvery is how often is asked where there is no stream; the browser's ETag makes an unchanged answer cheap.
const pollEvery = 5000;
const patience = 400; // changes come in bursts

// useStream calls changed when something changed: by server-sent events, or by the clock where there are none.
export function useStream(where: string | null, changed: () => void) {
  useEffect(() => {
    if (where === null) {
      liveness.value = 'off';
      return;
    }
    let poll: ReturnType<typeof setInterval> | undefined;
    let soon: ReturnType<typeof setTimeout> | undefined;
    const tell = () => {
      clearTimeout(soon);
      soon = setTimeout(changed, patience);
    };
    const fallBack = () => {
      liveness.value = 'polling';
      poll ??= setInterval(() => {
        if (!document.hidden) changed();
      }, pollEvery);
    };
    const source = new EventSource(where);
    source.addEventListener('open', () => {
      liveness.value = 'live';
      clearInterval(poll);
      poll = undefined;
    });
    source.addEventListener('assessment', tell);
    source.addEventListener('error', fallBack); // it goes on trying, unless the server said that there is none
    return () => {
      source.close();
      clearInterval(poll);
      clearTimeout(soon);
      liveness.value = 'off';
    };
  }, [where]);
}

export const liveness = signal<Liveness>('off');

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from './answers.ts';
import { address, Refusal, signedIn, text, type Answer, type Parameters, type Readable } from './client.ts';

export interface Asked<T> {
  answer: T | undefined;
  problem: Problem | undefined;
  waiting: boolean;
  again(): void;
}

export interface Asking extends Parameters {
  every?: number; // ms between two questions while the page is looked at
  unless?: boolean; // not to be asked now
  round?: unknown; // asked again when it changes
}

// useAnswer asks while its component is there; what is under way when it goes, or asks for something else, is given up.
export function useAnswer<P extends Readable>(template: P, asking: Asking = {}): Asked<Answer<P>> {
  const where = asking.unless ? '' : address(template, asking);
  const [state, set] = useState<{ where: string; came?: string; answer?: Answer<P>; problem?: Problem }>({ where: '' });
  const [times, setTimes] = useState(0);
  const again = useRef(() => setTimes((n) => n + 1));
  const session = signedIn.value;

  useEffect(() => {
    if (where === '') return;
    const stop = new AbortController();
    text(template, asking, stop.signal).then(
      (came) =>
        // the same again changes nothing: what is drawn stays drawn
        set((before) =>
          before.where === where && before.came === came && !before.problem
            ? before
            : { where, came, answer: JSON.parse(came) as Answer<P> },
        ),
      (e: unknown) => {
        if (stop.signal.aborted) return;
        const problem = e instanceof Refusal ? e.problem : { title: String(e), status: 0 };
        set((before) => ({ where, answer: before.where === where ? before.answer : undefined, problem }));
      },
    );
    return () => stop.abort();
    // the address says all that is asked
  }, [where, times, session, asking.round]);

  useEffect(() => {
    if (!asking.every || where === '') return;
    const timer = setInterval(() => {
      if (!document.hidden) again.current();
    }, asking.every);
    return () => clearInterval(timer);
  }, [asking.every, where]);

  const mine = state.where === where;
  // what was there before stays while something like it is asked for: a page that flickers cannot be read
  return { answer: state.answer, problem: mine ? state.problem : undefined, waiting: !mine, again: again.current };
}

import { useState } from 'preact/hooks';
import type { FullEvent, Problem } from '../api/answers.ts';
import { get, Refusal } from '../api/client.ts';
import { useAnswer, type Asked, type Asking } from '../api/use.ts';

type Paged = '/api/v1/search' | '/api/v1/events' | '/api/v1/nodes/{id}/timeline';

interface Page {
  events: FullEvent[];
  next_cursor: string | null;
}

export interface Pages {
  first: Asked<Page>;
  events: FullEvent[]; // of all pages that were asked for
  more: (() => void) | undefined; // undefined where there are no more
  waiting: boolean;
  problem: Problem | undefined;
}

// usePages reads records a page at a time. Pages after the first are forgotten when the first changes: they would not follow it.
export function usePages(template: Paged, asking: Asking): Pages {
  const first = useAnswer(template, asking) as Asked<Page>;
  const [rest, set] = useState<{ of?: Page; pages: Page[]; waiting: boolean; problem?: Problem }>({
    pages: [],
    waiting: false,
  });
  const mine = rest.of === first.answer ? rest : { of: first.answer, pages: [], waiting: false, problem: undefined };
  const last = mine.pages.at(-1) ?? first.answer;
  const cursor = last?.next_cursor;
  const more = async () => {
    set({ ...mine, of: first.answer, waiting: true, problem: undefined });
    try {
      const page = (await get(template, { ...asking, query: { ...asking.query, cursor } })) as Page;
      set((now) => (now.of === first.answer ? { ...now, pages: [...mine.pages, page], waiting: false } : now));
    } catch (e) {
      const problem = e instanceof Refusal ? e.problem : { title: String(e), status: 0 };
      set((now) => (now.of === first.answer ? { ...now, waiting: false, problem } : now));
    }
  };
  return {
    first,
    events: [first.answer, ...mine.pages].flatMap((p) => p?.events ?? []),
    more: cursor ? () => void more() : undefined,
    waiting: mine.waiting,
    problem: first.problem ?? mine.problem,
  };
}

// More asks for the next page.
export function More({ pages }: { pages: Pages }) {
  if (!pages.more) return null;
  return (
    <p>
      <button type="button" disabled={pages.waiting} onClick={pages.more}>
        {pages.waiting ? 'Reading…' : 'More records'}
      </button>
    </p>
  );
}

import { useState } from 'preact/hooks';
import { signedOut } from '../api/client.ts';
import { useAnswer } from '../api/use.ts';
import { find } from '../search/find.ts';
import { go, place, to } from '../route/route.ts';
import { relative, toggleTimes } from '../time/setting.ts';
import { scheme, toggleTheme } from './theme.ts';

const often = 30_000;

// Header is on every page: search for any identifier, and what is wrong at all.
export function Header({ help }: { help(): void }) {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (e: Event) => {
    e.preventDefault();
    const wanted = text.trim();
    if (wanted === '') return;
    setBusy(true);
    go(await find(wanted));
    setBusy(false);
    setText('');
  };
  return (
    <header class="top">
      <a class="brand" href={to.home()} aria-current={place.value.path === '/ui/' ? 'page' : undefined}>
        <span aria-hidden="true">◣</span> Faultline
      </a>
      <form role="search" onSubmit={(e) => void submit(e)}>
        <label class="unseen" for="find">
          Any identifier, or words of a record
        </label>
        <input
          id="find"
          type="search"
          autocomplete="off"
          spellcheck={false}
          placeholder="allocation, node, task, request, trace … or words"
          value={text}
          aria-busy={busy}
          onInput={(e) => setText(e.currentTarget.value)}
        />
      </form>
      <nav aria-label="Pages">{!signedOut.value && <Counts />}</nav>
      <div class="settings">
        <button
          type="button"
          onClick={toggleTimes}
          aria-pressed={relative.value}
          title="Times in UTC, or as how long ago"
        >
          {relative.value ? 'ago' : 'UTC'}
        </button>
        <button type="button" onClick={toggleTheme} aria-label={scheme.value === 'dark' ? 'Light theme' : 'Dark theme'}>
          {scheme.value === 'dark' ? '☀' : '☾'}
        </button>
        <button type="button" onClick={help} aria-label="Keys and help">
          ?
        </button>
      </div>
    </header>
  );
}

function Counts() {
  const stuck = useAnswer('/api/v1/stuck', { every: often });
  const incidents = useAnswer('/api/v1/incidents', { query: { open: true }, every: often });
  const sources = useAnswer('/api/v1/sources', { every: often });
  const alive = sources.answer?.sources.filter((s) => s.alive).length;
  const here = (path: string) => (place.value.path === path ? 'page' : undefined);
  return (
    <>
      <a href="/ui/#stuck">Stuck {stuck.answer?.allocations.length ?? '–'}</a>
      <a href="/ui/#incidents">Incidents {incidents.answer?.incidents.filter((i) => i.open).length ?? '–'}</a>
      <a href={to.sources()} aria-current={here('/ui/sources')}>
        Sources {sources.answer ? `${alive}/${sources.answer.sources.length} alive` : ''}
      </a>
      <a href={to.rules()} aria-current={here('/ui/rules')}>
        Rules
      </a>
      <a href={to.search()} aria-current={here('/ui/search')}>
        Records
      </a>
    </>
  );
}

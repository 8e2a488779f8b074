import { signal } from '@preact/signals';

export interface Place {
  path: string;
  query: URLSearchParams;
}

const read = (): Place => ({ path: location.pathname, query: new URLSearchParams(location.search) });

// place is where the reader is; every view's state is in it, so that its address can be sent to somebody.
export const place = signal<Place>(read());

addEventListener('popstate', () => (place.value = read()));

export function go(address: string, replace = false): void {
  if (address === location.pathname + location.search) return;
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  const before = place.value.path;
  place.value = read();
  if (before !== place.value.path) scrollTo(0, 0);
}

// put changes parts of the query; null takes one away. Small steps (a selection, a zoom) replace, so that "back" leaves the page.
export function put(changes: Record<string, string | null>, replace = true): void {
  const query = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(key);
    else query.set(key, value);
  }
  const text = query.toString();
  go(location.pathname + (text === '' ? '' : `?${text}`), replace);
}

const settled = 300; // ms until a view has its first answers

// links are followed inside the page where they lead to the page, unless the reader asks for another tab.
addEventListener('click', (e) => {
  if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  const link = (e.target as Element | null)?.closest('a');
  if (!link || link.target || link.origin !== location.origin || !link.pathname.startsWith('/ui/')) return;
  if (link.pathname === location.pathname && link.search === location.search && link.hash) return;
  e.preventDefault();
  go(link.pathname + link.search);
  if (link.hash) setTimeout(() => document.getElementById(link.hash.slice(1))?.scrollIntoView(), settled);
});

export const to = {
  home: () => '/ui/',
  allocation: (id: string, ref?: string) =>
    `/ui/allocations/${encodeURIComponent(id)}${ref ? `?ref=${encodeURIComponent(ref)}` : ''}`,
  node: (id: string) => `/ui/nodes/${encodeURIComponent(id)}`,
  incident: (id: string) => `/ui/incidents/${encodeURIComponent(id)}`,
  trace: (id: string) => `/ui/traces/${encodeURIComponent(id)}`,
  rules: (rule?: string) => `/ui/rules${rule ? `?q=${encodeURIComponent(rule)}` : ''}`,
  sources: () => '/ui/sources',
  search: (text?: string) => `/ui/search${text ? `?q=${encodeURIComponent(text)}` : ''}`,
};

// match gives the one parameter of a path like /ui/nodes/:id, undefined where the path is another.
export function match(path: string, folder: string): string | undefined {
  const prefix = `/ui/${folder}/`;
  if (!path.startsWith(prefix) || path.length === prefix.length) return undefined;
  try {
    return decodeURIComponent(path.slice(prefix.length));
  } catch {
    return undefined;
  }
}

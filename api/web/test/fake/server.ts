// A server that answers as the correlator does, from fixtures: for tests, screenshots and work on the page.
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import type { Allocation } from '../../src/api/answers.ts';
import { recorded } from './recorded.ts';
import { handoffsOf, layerList, lookupOf, nodeOf, recoveries, sourceList, statesOf } from './states.ts';
import { asOf, load, now, revisions, type World } from './world.ts';

const web = join(import.meta.dirname, '..', '..');
const policy = readFileSync(join(web, 'policy.txt'), 'utf8').trim();
const media: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

export interface Fake {
  url: string;
  world: World;
  asked: string[]; // method and path of every API request
  posted: Record<string, unknown>[];
  push(id: string): void; // tells those who follow an allocation that it changed
  streams: boolean;
  lines: boolean; // a Loki is configured // whether server-sent events are offered
  token: string; // what a caller has to show; empty: access is open
  close(): Promise<void>;
}

export async function fake(more: Allocation[] = [], port = 0): Promise<Fake> {
  const world = load(more);
  const followers = new Map<string, Set<ServerResponse>>();
  const server: Server = createServer((q, r) => void answer(q, r));
  const f: Fake = {
    url: '',
    world,
    asked: [],
    posted: [],
    streams: true,
    lines: true,
    token: '',
    push: (id) => followers.get(id)?.forEach((r) => r.write(`id: ${Date.now()}\nevent: assessment\ndata: {}\n\n`)),
    close: () => new Promise((done) => (server.closeAllConnections(), server.close(() => done()))),
  };

  async function answer(q: IncomingMessage, r: ServerResponse): Promise<void> {
    const url = new URL(q.url ?? '/', 'http://fake');
    if (!url.pathname.startsWith('/api/v1/')) return page(url, r);
    f.asked.push(`${q.method} ${url.pathname}${url.search}`);
    const path = url.pathname.slice('/api/v1'.length).split('/').map(decodeURIComponent);
    if (path[1] === 'session' && q.method === 'POST') {
      if (f.token && q.headers.authorization !== `Bearer ${f.token}`)
        return problem(r, 401, 'the token is not accepted', 'it is unknown or has run out');
      r.setHeader('Set-Cookie', 'session=1; HttpOnly; SameSite=Strict; Path=/');
      return json(r, { subject: 'op1', role: 'operator', tenants: null, open: false });
    }
    if (f.token && !q.headers.cookie?.includes('session=1'))
      return problem(r, 401, 'sign in', 'no token or session was shown');
    if (q.method !== 'GET' && q.headers['x-faultline-request'] !== '1')
      return problem(r, 403, 'not from the page', 'X-Faultline-Request is missing');
    if (path[1] === 'session' && q.method === 'DELETE')
      return void r.writeHead(204, { 'Set-Cookie': 'session=; Max-Age=0; Path=/' }).end();
    const body = q.method === 'POST' ? (JSON.parse((await text(q)) || '{}') as Record<string, unknown>) : {};
    if (q.method === 'POST') f.posted.push({ ...body, key: q.headers['idempotency-key'] });
    const follow = (id: string) => {
      if (!f.streams) return problem(r, 404, 'Not Found', 'no stream here');
      r.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      r.write('event: caught_up\ndata: {}\n\n');
      const all = followers.get(id) ?? new Set();
      followers.set(id, all.add(r));
      q.on('close', () => all.delete(r));
    };
    const at = url.searchParams.get('as_of');
    if (path[1] === 'incidents' && path[2] === 'events') return follow('*');
    if (path[1] === 'allocations' && path[2]) {
      const a = asOf(world, path[2], at);
      if (!a) return problem(r, 404, 'unknown identifier', `no record leads to ${path[2]}`);
      if (path[3] === 'events') return follow(path[2]);
      return ofAllocation(a, path, q.method ?? 'GET', body, r);
    }
    return across(path, url, r);
  }

  function ofAllocation(
    a: Allocation,
    path: string[],
    method: string,
    body: Record<string, unknown>,
    r: ServerResponse,
  ): void {
    const id = a.allocation_id;
    switch (path[3]) {
      case undefined:
        return json(r, a);
      case 'states':
        return json(r, statesOf(a.timeline, id, now, a.verdict.drift as never));
      case 'history':
        return json(r, { allocation_id: id, revisions: revisions(world, id) });
      case 'reasoning': {
        const kept = world.answers.get(`/allocations/${id}/reasoning`) as { reasoning: object } | undefined;
        return json(r, {
          ...a,
          timeline: undefined,
          reasoning: { troubles: [], ...kept?.reasoning, handoffs: handoffsOf(a.timeline) },
        });
      }
      case 'raw': {
        const cited = a.timeline.find((x) => x.ref === path[4]);
        const e = world.events.find((x) => x.ref === path[4]) ?? (cited && recorded(cited));
        return e ? json(r, e) : problem(r, 404, 'unknown record', `no record of the timeline has the ref ${path[4]}`);
      }
      case 'lines': {
        if (!f.lines) return problem(r, 501, 'this server cannot answer that', 'no Loki is configured here (loki.url)');
        const line = (text: string) => ({ time: now, line: text, labels: { service_name: 'api' } });
        return json(r, {
          ref: path[4],
          source: 'api',
          from: now,
          to: now,
          lines: [line('before it'), line('<b>after</b> it')],
          bounded: true,
        });
      }
      case 'recovery':
        if (method === 'GET') return json(r, recoveries);
        if (!body['reason']) return problem(r, 422, 'a guard holds it back', 'reason_given: no reason was given');
        return json(r, {
          action: body['action'],
          of: 'allocations',
          id,
          dry_run: body['dry_run'] !== false,
          changes: [{ of: 'allocations', from: a.state, to: 'releasing' }],
        });
    }
    problem(r, 404, 'Not Found', path.join('/'));
  }

  function across(path: string[], url: URL, r: ServerResponse): void {
    const p = url.searchParams;
    switch (path[1]) {
      case 'session':
        return json(r, { subject: f.token ? 'op1' : '', role: 'operator', tenants: null, open: !f.token });
      case 'allocations': {
        const words = (p.get('text') ?? '').toLowerCase().split(/\s+/);
        const found = world.listed.filter(
          (l) =>
            (!p.get('state') || l.state === p.get('state')) &&
            (!p.get('stuck') || String(l.stuck) === p.get('stuck')) &&
            words.every((x) => JSON.stringify(l).toLowerCase().includes(x)),
        );
        return json(r, { allocations: found, next_cursor: null });
      }
      case 'stuck':
        return json(r, { as_of: now, examined: world.listed.length, allocations: world.stuck, orphans: [] });
      case 'incidents':
        return json(r, { as_of: now, examined: world.listed.length, incidents: world.incidents });
      case 'drift':
        return json(r, { as_of: now, examined: world.listed.length, drift: world.drift });
      case 'rules':
        return json(r, world.rules);
      case 'layers':
        return json(r, layerList(world));
      case 'sources':
        return json(r, sourceList(world));
      case 'lookup': {
        const found = lookupOf(world, path[2] ?? '');
        return found ? json(r, found) : problem(r, 404, 'unknown identifier', `no record carries ${path[2]}`);
      }
      case 'nodes': {
        const node = nodeOf(world, path[2] ?? '');
        if (!node) return problem(r, 404, 'unknown identifier', `no record names the node ${path[2]}`);
        if (path[3] === 'timeline')
          return json(
            r,
            eventsOf(world, p, (e) => e.ids['node_id'] === path[2]),
          );
        return json(r, node);
      }
      case 'events':
        return json(
          r,
          eventsOf(world, p, (e) => e.ids['trace_id'] === p.get('trace_id') || e.trace_id === p.get('trace_id')),
        );
      case 'search': {
        const words = (p.get('text') ?? '')
          .toLowerCase()
          .split(/\s+/)
          .filter((x) => x !== '');
        const least = p.get('severity') === 'error';
        const found = eventsOf(
          { ...world, events: world.events.toReversed() },
          p,
          (e) =>
            words.every((x) => JSON.stringify(e).toLowerCase().includes(x)) &&
            (!least || e.severity === 'error') &&
            (!p.get('layer') || e.layer === p.get('layer')),
        );
        return json(r, found);
      }
    }
    problem(r, 404, 'Not Found', path.join('/'));
  }

  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  f.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return f;
}

function eventsOf(w: World, p: URLSearchParams, test: (e: World['events'][number]) => boolean) {
  const all = w.events.filter(test);
  const from = Number(p.get('cursor') ?? 0);
  const to = from + Number(p.get('limit') ?? 1000);
  return { events: all.slice(from, to), next_cursor: to < all.length ? String(to) : null, as_of: now, bounded: false };
}

async function text(q: IncomingMessage): Promise<string> {
  let out = '';
  for await (const part of q) out += String(part);
  return out;
}

function json(r: ServerResponse, body: unknown): void {
  r.writeHead(200, { 'Content-Type': 'application/json' });
  r.end(JSON.stringify(body));
}

function problem(r: ServerResponse, status: number, title: string, detail: string): void {
  r.writeHead(status, { 'Content-Type': 'application/problem+json' });
  r.end(JSON.stringify({ type: `/problems/${status}`, title, status, detail }));
}

// page serves the built page as api/web's handler does, with the same policy.
function page(url: URL, r: ServerResponse): void {
  if (url.pathname === '/') return void r.writeHead(302, { Location: '/ui/' }).end();
  const name = normalize(url.pathname.replace(/^\/ui\/?/, ''));
  const asset = join(web, 'dist', name);
  const file = name.startsWith('assets/') && existsSync(asset) ? asset : join(web, 'dist', 'index.html');
  r.writeHead(200, {
    'Content-Type': media[extname(file)] ?? 'application/octet-stream',
    'Content-Security-Policy': policy,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  });
  r.end(readFileSync(file));
}

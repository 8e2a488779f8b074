import { signal } from '@preact/signals';
import type { Problem } from './answers.ts';
import type { paths } from './schema.ts';

// signedOut says that the server wants to know who asks.
export const signedOut = signal(false);

// Refusal is a problem document as an error.
export class Refusal extends Error {
  constructor(readonly problem: Problem) {
    super(problem.title);
  }
}

type Json<R> = R extends { content: { 'application/json': infer B } } ? B : never;
export type Readable = {
  [P in keyof paths]: paths[P] extends { get: { responses: { 200: { content: { 'application/json': unknown } } } } }
    ? P
    : never;
}[keyof paths];
export type Answer<P extends Readable> = paths[P] extends { get: { responses: { 200: infer R } } } ? Json<R> : never;

export interface Parameters {
  path?: Record<string, string>;
  query?: Record<string, string | number | boolean | string[] | null | undefined>;
}

// address fills a template of the API's description.
export function address(template: string, { path = {}, query = {} }: Parameters = {}): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  const q = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === '') continue;
    for (const one of Array.isArray(value) ? value : [value]) q.append(key, String(one));
  }
  const text = q.toString();
  return text === '' ? filled : `${filled}?${text}`;
}

async function refusal(r: Response): Promise<Refusal> {
  let problem: Problem = { title: r.statusText || 'no answer', status: r.status };
  if (r.headers.get('Content-Type')?.includes('problem+json'))
    problem = { ...problem, ...((await r.json()) as Problem) };
  return new Refusal(problem);
}

async function asked(input: string, init: RequestInit): Promise<Response> {
  let r: Response;
  try {
    r = await fetch(input, { credentials: 'same-origin', ...init });
  } catch (e) {
    if (e instanceof DOMException && e.name === 'AbortError') throw e;
    throw new Refusal({
      title: 'the server does not answer',
      status: 0,
      detail: 'It is not reachable from here; it is asked again.',
    });
  }
  if (r.status === 401) signedOut.value = true;
  if (!r.ok) throw await refusal(r);
  return r;
}

export async function get<P extends Readable>(
  template: P,
  parameters?: Parameters,
  stop?: AbortSignal,
): Promise<Answer<P>> {
  return JSON.parse(await text(template, parameters, stop)) as Answer<P>;
}

// text is an answer as it came, for who wants to know whether it is another than before.
export async function text(template: Readable, parameters?: Parameters, stop?: AbortSignal): Promise<string> {
  const r = await asked(address(template, parameters), { signal: stop, headers: { Accept: 'application/json' } });
  return r.text();
}

// post changes something; the header tells the server that a script of its own page asks, which no form of another site can say.
export async function post(where: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> {
  const r = await asked(where, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Faultline-Request': '1', ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return r.status === 204 ? undefined : ((await r.json()) as unknown);
}

export async function signIn(token: string): Promise<void> {
  await post('/api/v1/session', undefined, { Authorization: `Bearer ${token}` });
  signedOut.value = false;
  signedIn.value++;
}

export async function signOut(): Promise<void> {
  await asked('/api/v1/session', { method: 'DELETE', headers: { 'X-Faultline-Request': '1' } });
  signedOut.value = true;
}

// signedIn counts, so that what was refused is asked for again.
export const signedIn = signal(0);

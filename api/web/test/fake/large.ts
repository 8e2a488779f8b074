import type { Allocation, Entry } from '../../src/api/answers.ts';

// random is mulberry32: the same numbers for the same seed, everywhere.
export function random(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// large is an allocation of many events: a long release with retries, chatty agents and one certificate that ran out.
export function large(events = 10_000, seed = 17): Allocation {
  const next = random(seed);
  const begin = Date.parse('2026-03-02T04:00:00Z');
  const layers = [
    'client',
    'ingress',
    'api_auth',
    'api',
    'db',
    'outbox',
    'workflow',
    'provider',
    'node_agent',
    'node',
    'projection',
  ];
  const timeline: Entry[] = [];
  let at = begin;
  for (let i = 0; i < events; i++) {
    at += next() < 0.0008 ? 1_500_000 * next() : 900 * next();
    const layer = layers[Math.floor(next() ** 1.5 * layers.length)]!;
    const span = next() < 0.3;
    const beat = !span && next() < 0.15;
    const failed = next() < 0.04;
    const took = Math.round(10 ** (1 + 3.4 * next()));
    timeline.push({
      time: new Date(at).toISOString(),
      observed_time: new Date(at + 5).toISOString(),
      layer,
      source: layer.replace('_', '-'),
      kind: span ? 'span' : beat ? 'heartbeat' : 'log',
      name: span ? 'call' : beat ? 'heartbeat' : '',
      severity: failed ? 'error' : 'info',
      summary: span
        ? `call ${i} ${took}ms`
        : beat
          ? `${layer} is alive`
          : `event ${i} of ${layer}${failed ? ': x509: certificate has expired' : ''}`,
      ids: { allocation_id: 'a-large', node_id: `gx-${Math.floor(next() * 40)}` },
      via: 'explicit',
      ref: `e-${i.toString(16).padStart(8, '0')}`,
    });
  }
  const failures = timeline.filter((e) => e.severity === 'error' && e.layer === 'node_agent');
  const refs = failures.map((e) => e.ref);
  return {
    allocation_id: 'a-large',
    state: 'releasing',
    since: timeline[events >> 1]!.time,
    timeline,
    verdict: {
      outcome: 'attributed',
      explanation: 'cert owns it: a certificate has expired.',
      as_of: timeline.at(-1)!.time,
      rules_version: 'synthetic',
      faults: [
        {
          layer: 'cert',
          mechanism: 'expired',
          confidence: 'high',
          onset: failures[0]!.time,
          cleared_at: null,
          rule: 'cert.expired',
          summary: 'a certificate has expired (node-agent: "x509: certificate has expired")',
          evidence: refs.slice(0, 40),
          symptoms: refs.slice(40, 400),
          contradicting: [],
          next_check: "the certificate's notAfter",
          safe_action: 'renew the certificate',
          owner: { team: 'platform PKI' },
        },
      ],
      candidates: [],
      missing: [],
      drift: [],
      findings: [],
    },
  };
}

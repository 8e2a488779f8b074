import type { Allocation, Fault } from '../api/answers.ts';
import { oneLine, words } from '../text/visible.ts';
import { full, millis } from '../time/time.ts';

// plain keeps what records say from being read as Markdown, as a mention or as a link.
export function plain(text: string): string {
  return oneLine(text)
    .replace(/[\\`*_{}[\]<>#|~]/g, (c) => `\\${c}`)
    .replace(/@/g, '@\u200b')
    .replace(/\b(https?):\/\//g, '$1:\u200b//');
}

const few = 5;

// markdown is the page for an incident's channel: the verdict, what next, the evidence, and where to look.
export function markdown(a: Allocation, address: string): string {
  const v = a.verdict;
  const out: string[] = [
    `**Allocation ${plain(a.allocation_id)}**: ${a.state ? `${words(a.state)} since ${full(millis(a.since ?? v.as_of))}` : 'state unknown'}`,
    '',
  ];
  if (v.outcome === 'none' || v.outcome === 'undetermined')
    out.push(`**${v.outcome === 'none' ? 'No fault' : 'Undetermined'}.** ${plain(v.explanation)}`);
  if (v.outcome === 'contested') out.push('**Contested**: the evidence is equally strong for each of these.');
  for (const f of v.faults) out.push(...faultLines(f, a));
  for (const m of v.missing) out.push(`* missing: ${words(m.layer ?? '')}, ${plain(m.why ?? '')}`);
  for (const c of v.candidates) out.push(`* may own it: ${words(c.layer ?? '')}, ${plain(c.why ?? '')}`);
  for (const d of v.drift)
    out.push(
      `* drift: ${plain(d.projection ?? '')} shows ${words(d.field ?? '')} ${plain(d.shown ?? '')}, the truth is ${plain(d.truth ?? '')}`,
    );
  for (const f of v.findings) out.push(`* note: ${words(f.kind ?? '')}: ${plain(f.summary ?? '')}`);
  out.push('', `As of ${full(millis(v.as_of))}, rules ${plain(v.rules_version)}: ${address}`);
  return `${out.join('\n')}\n`;
}

function faultLines(f: Fault, a: Allocation): string[] {
  const entries = new Map(a.timeline.map((e) => [e.ref, e]));
  const out = [
    `**${words(f.layer)}** ${a.verdict.outcome === 'contested' ? 'may own' : f.cleared_at ? 'owned' : 'owns'} it (${f.rule}, ${f.confidence} confidence, since ${full(millis(f.onset))}${f.cleared_at ? `, over ${full(millis(f.cleared_at))}` : ''}): ${plain(f.summary)}`,
  ];
  const owner = [f.owner.team, f.owner.contact, f.owner.runbook].filter((x): x is string => Boolean(x));
  if (owner.length > 0) out.push(`* owner: ${owner.map(plain).join(' · ')}`);
  if (f.next_check) out.push(`* next check: ${plain(f.next_check)}`);
  if (f.safe_action) out.push(`* safe action: ${plain(f.safe_action)}`);
  out.push(`* evidence (${f.evidence.length} records):`);
  for (const ref of f.evidence.slice(0, few)) {
    const e = entries.get(ref);
    out.push(
      e ? `  * ${full(millis(e.time))} ${words(e.layer)} ${plain(e.source)}: ${plain(e.summary)}` : `  * ${ref}`,
    );
  }
  out.push('');
  return out;
}

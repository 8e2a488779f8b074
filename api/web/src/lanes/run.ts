import type { Entry } from '../api/answers.ts';
import { millis, took } from '../time/time.ts';
import { oneLine } from '../text/visible.ts';

// Run is something that lasted: a span, a workflow, a task, a provider's job.
export interface Run {
  index: number; // of the entry that a click on it selects
  from: number;
  to: number;
  layer: string;
  label: string;
  refs: string[];
  failed: boolean;
  open: boolean; // it had not ended by the last that was heard of it
}

const ended =
  /\b(succeeded|completed|failed|canceled|expired|lost|rejected|superseded|timed_out|terminated|Succeeded|Failed|Canceled)\b/;
const wrong = /\b(failed|expired|lost|rejected|timed_out|terminated|Failed)\b/;
const begun: Record<string, RegExp> = {
  'task.state': /\b(dispatched|running)\b/,
  'workflow.state': /\b(scheduled|running|waiting)\b/,
  'provider_job.state': /\b(Pending|Waiting|Running)\b/,
};
const keys: Record<string, string> = {
  'task.state': 'task_id',
  'workflow.state': 'workflow_id',
  'provider_job.state': 'provider_job',
};

// A task is told of by whoever gave it and is done by the node's agent: its bar stands where it is done.
const doneBy: Record<string, string> = { 'task.state': 'node_agent' };

// runs are the bars of a timeline. Entries say when something became what; a run reaches from the first that says it is
// taken up to the one that ends it, and to end where none does.
export function runs(timeline: Entry[], end: number, layers: Set<string>): Run[] {
  const out: Run[] = [];
  const open = new Map<string, Run>();
  timeline.forEach((e, index) => {
    if (e.kind === 'span') {
      const long = took(e.summary);
      const from = millis(e.time);
      if (long > 0)
        out.push({
          index,
          from,
          to: from + long,
          layer: e.layer,
          label: oneLine(e.name),
          refs: [e.ref],
          failed: e.severity === 'error',
          open: false,
        });
      return;
    }
    const key = keys[e.name];
    const id = key && e.ids[key];
    if (!id) return;
    const name = `${e.name} ${id}`;
    const told = e.summary.replace(/ \(.*/s, '');
    const at = millis(e.time);
    const run = open.get(name);
    if (!run) {
      if (!begun[e.name]!.test(told)) return;
      const by = doneBy[e.name];
      const words = told.split(' ').slice(1, -1).reverse().join(' ');
      const fresh = {
        index,
        from: at,
        to: end,
        layer: by && layers.has(by) ? by : e.layer,
        label: oneLine(words || id),
        refs: [e.ref],
        failed: false,
        open: true,
      };
      open.set(name, fresh);
      out.push(fresh);
      return;
    }
    run.refs.push(e.ref);
    if (!ended.test(told)) return;
    run.to = at;
    run.open = false;
    run.failed = wrong.test(told);
    open.delete(name);
  });
  return out;
}

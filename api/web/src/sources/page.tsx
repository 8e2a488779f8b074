import { useAnswer } from '../api/use.ts';
import { Refused } from '../shell/refused.tsx';
import { to } from '../route/route.ts';
import { useTitle } from '../shell/title.ts';
import { words } from '../text/visible.ts';
import { span } from '../time/time.ts';
import { When } from '../time/when.tsx';

const five = ['allocation_id', 'workflow_id', 'correlation_id', 'node_id', 'node_instance_id'];
const noticeable = 0.5; // s that a clock is ahead

// SourcesPage tells who sends telemetry, who has stopped, and how much of it can be resolved: a verdict is as good as that.
export function SourcesPage() {
  useTitle('Sources');
  const { answer, problem } = useAnswer('/api/v1/sources', { every: 15_000 });
  const all = [...(answer?.sources ?? [])].sort(
    (a, b) => Number(a.alive) - Number(b.alive) || (a.source < b.source ? -1 : 1),
  );
  return (
    <>
      <h1>
        Sources{' '}
        <span class="sub">
          {answer &&
            `${all.filter((s) => s.alive).length} of ${all.length} alive · figures of the last ${span(answer.window_seconds * 1000)}`}
        </span>
      </h1>
      {problem && <Refused problem={problem} />}
      <div class="scroll card" tabIndex={0} role="region" aria-label="Sources">
        <table>
          <thead>
            <tr>
              <th scope="col">Source</th>
              <th scope="col">Layer</th>
              <th scope="col">Alive</th>
              <th scope="col">Last heard of</th>
              <th scope="col">Records</th>
              <th scope="col">Errors</th>
              <th scope="col">Late by</th>
              <th scope="col">Clock</th>
              <th scope="col">Unresolved</th>
              {five.map((name) => (
                <th scope="col" key={name}>
                  {words(name.replace(/_id$/, ''))}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {all.map((s) => (
              <tr key={s.source} class={s.alive ? '' : 'silent'}>
                <th scope="row">
                  <a href={`${to.search()}?service=${encodeURIComponent(s.source)}`}>{s.source}</a>
                </th>
                <td>{words(s.layer) || <span class="soft">none</span>}</td>
                <td>{s.alive ? '● alive' : <b>○ silent {span(s.silent_seconds * 1000)}</b>}</td>
                <td>
                  <When at={s.last_heard} />
                </td>
                <td class="number">{s.records.toLocaleString('en')}</td>
                <td class="number">{s.errors.toLocaleString('en')}</td>
                <td class="number">{span(s.lag_seconds * 1000)}</td>
                <td class="number">
                  {s.ahead_seconds >= noticeable ? (
                    <b class="drift">▲ {span(s.ahead_seconds * 1000)} ahead</b>
                  ) : (
                    'as ours'
                  )}
                </td>
                <td class="number">{s.unresolved.toLocaleString('en')}</td>
                {five.map((name) => (
                  <td class="number" key={name}>
                    {Math.round((s.coverage[name] ?? 0) * 100)} %
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

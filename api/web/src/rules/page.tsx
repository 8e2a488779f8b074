import { useAnswer } from '../api/use.ts';
import { place, put } from '../route/route.ts';
import { Refused } from '../shell/refused.tsx';
import { useTitle } from '../shell/title.ts';
import { sentence, words } from '../text/visible.ts';

// RulesPage lists every rule: what it looks for, what it stands on, and what to do.
export function RulesPage() {
  useTitle('Rules');
  const q = place.value.query.get('q') ?? '';
  const { answer, problem } = useAnswer('/api/v1/rules');
  const wanted = q.toLowerCase().split(/\s+/);
  const found = (answer?.rules ?? []).filter((r) => {
    const text = Object.values(r).join(' ').toLowerCase();
    return wanted.every((w) => text.includes(w));
  });
  return (
    <>
      <h1>
        Rules{' '}
        <span class="sub">
          {answer && `${found.length} of ${answer.rules.length} · version ${answer.rules_version}`}
        </span>
      </h1>
      {problem && <Refused problem={problem} />}
      <form class="filters" onSubmit={(e) => e.preventDefault()}>
        <label class="wide">
          Words of a rule, a layer, or what to do
          <input type="search" value={q} onInput={(e) => put({ q: e.currentTarget.value })} />
        </label>
      </form>
      {answer && answer.tiebreaks.length > 0 && q === '' && (
        <details class="card">
          <summary>How a choice is made between what rules find</summary>
          <ol>
            {answer.tiebreaks.map((t) => (
              <li key={t}>{sentence(t)}</li>
            ))}
          </ol>
        </details>
      )}
      <ul class="rules">
        {found.map((r) => (
          <li key={r.rule + r.mechanism} class="card">
            <h2>
              {r.rule}{' '}
              <span class="sub">
                {words(r.layer)} · {words(r.mechanism)}
              </span>
            </h2>
            <p>{sentence(r.looks_for)}</p>
            <p class="soft">Stands on {r.stands_on}.</p>
            <dl class="next">
              <div>
                <dt>Next check</dt>
                <dd>{sentence(r.next_check)}</dd>
              </div>
              <div>
                <dt>Safe action</dt>
                <dd>{sentence(r.safe_action)}</dd>
              </div>
            </dl>
          </li>
        ))}
      </ul>
    </>
  );
}

import { useState } from 'preact/hooks';
import type { Problem } from '../api/answers.ts';
import { Refusal, signIn } from '../api/client.ts';
import { Refused } from './refused.tsx';
import { useTitle } from './title.ts';

// SignIn exchanges a token for a cookie that no script can read; the token itself is kept nowhere.
export function SignIn() {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<Problem | null>(null);
  useTitle('Sign in');
  const submit = async (e: Event) => {
    e.preventDefault();
    try {
      await signIn(token.trim());
      setToken('');
    } catch (x) {
      setProblem(x instanceof Refusal ? x.problem : { title: String(x), status: 0 });
    }
  };
  return (
    <form class="card signin" onSubmit={(e) => void submit(e)}>
      <h1>Sign in</h1>
      <p>
        This server wants to know who asks. A token opens a session for this browser: <code>faultline up</code> keeps
        one in <code>access/token</code> of its data folder; elsewhere, whoever runs this server gives one.
      </p>
      <label>
        Token
        <input
          type="password"
          autocomplete="current-password"
          required
          value={token}
          onInput={(e) => setToken(e.currentTarget.value)}
        />
      </label>
      {problem && <Refused problem={problem} />}
      <button type="submit" class="main">
        Sign in
      </button>
    </form>
  );
}

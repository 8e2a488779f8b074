import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Problem, RecoveryActions, RecoveryRequest } from '../api/answers.ts';
import { address, post, Refusal } from '../api/client.ts';
import { useAnswer } from '../api/use.ts';
import { Refused } from '../shell/refused.tsx';
import { Told } from '../text/told.tsx';

type Action = RecoveryActions['actions'][number];

export interface RecoveryProps {
  id: string;
  nodes: string[]; // that it holds or held
  close(): void;
  done(): void;
}

// Recovery asks the provisioner for an action: a dry run first, which shows what would be done and what holds it back, then,
// with the same words, the real thing.
export function Recovery({ id, nodes, close, done }: RecoveryProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const leave = useRef<HTMLButtonElement>(null);
  const { answer, problem } = useAnswer('/api/v1/allocations/{id}/recovery', { path: { id } });
  const [chosen, choose] = useState('');
  const [reason, setReason] = useState('');
  const [subject, setSubject] = useState('');
  const [absent, setAbsent] = useState(false);
  const [evidence, setEvidence] = useState('');
  const [result, setResult] = useState<{ dry: boolean; of: string; answer?: unknown; problem?: Problem } | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const d = dialog.current!;
    d.showModal();
    return () => d.close();
  }, []);

  // a button that is not to be pressed again loses the focus, which would be nowhere then
  useEffect(() => {
    const at = document.activeElement;
    if (result && (!dialog.current!.contains(at) || at?.matches(':disabled'))) leave.current!.focus();
  }, [result]);

  const action = answer?.actions.find((a) => a.name === chosen);
  const asked = JSON.stringify([chosen, subject, reason, absent, evidence]);
  // the same request has the same key, so that a second click, or one after a lost answer, does nothing twice
  const key = useMemo(randomKey, [asked]);
  const other = action !== undefined && !action.of.startsWith('allocation');
  const tried = result?.dry && !result.problem && result.of === asked;
  const ask = async (dry: boolean) => {
    if (!action || busy) return;
    setBusy(true);
    const body: RecoveryRequest = {
      action: action.name,
      of: action.of,
      subject: other ? subject : undefined,
      reason,
      dry_run: dry,
      runtime_verified_absent: absent,
      evidence,
    };
    try {
      const headers: Record<string, string> = dry ? {} : { 'Idempotency-Key': key };
      setResult({
        dry,
        of: asked,
        answer: await post(address('/api/v1/allocations/{id}/recovery', { path: { id } }), body, headers),
      });
      if (!dry) done();
    } catch (e) {
      setResult({ dry, of: asked, problem: e instanceof Refusal ? e.problem : { title: String(e), status: 0 } });
    }
    setBusy(false);
  };

  return (
    <dialog ref={dialog} class="card" aria-labelledby="recover" aria-busy={busy} onClose={close}>
      <form method="dialog" onSubmit={(e) => (e.preventDefault(), void ask(true))}>
        <h2 id="recover">Recover {id}</h2>
        {problem && <Refused problem={problem} />}
        <fieldset>
          <legend>What is to be done</legend>
          {answer?.actions.map((a) => (
            <label key={a.name} class="choice">
              <input
                type="radio"
                name="action"
                value={a.name}
                checked={chosen === a.name}
                onChange={() => {
                  choose(a.name);
                  setSubject(a.of.startsWith('node') ? (nodes[0] ?? '') : '');
                }}
              />
              <span>
                <b>{a.name}</b> <span class="soft">{a.role}</span>
                <br />
                {a.does} <span class="soft">{a.when}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {action && <Guards action={action} />}
        {other && (
          <label>
            Which of its {action.of}
            <input required value={subject} maxLength={512} onInput={(e) => setSubject(e.currentTarget.value)} />
          </label>
        )}
        <label>
          Reason, for the audit log
          <textarea
            required
            maxLength={1000}
            rows={2}
            value={reason}
            onInput={(e) => setReason(e.currentTarget.value)}
          />
        </label>
        <label class="choice">
          <input type="checkbox" checked={absent} onChange={(e) => setAbsent(e.currentTarget.checked)} />
          <span>Somebody has seen that nothing runs any more</span>
        </label>
        {absent && (
          <label>
            Where that is written
            <input value={evidence} maxLength={1000} onInput={(e) => setEvidence(e.currentTarget.value)} />
          </label>
        )}
        <div aria-live="polite">
          {result?.problem && <Refused problem={result.problem} />}
          {result?.answer !== undefined && (
            <>
              <h3>{result.dry ? 'It would do this; nothing was done yet' : 'Done'}</h3>
              <pre tabIndex={0}>
                <Told text={JSON.stringify(result.answer, null, 1)} lines />
              </pre>
            </>
          )}
        </div>
        <p class="buttons">
          <button type="button" ref={leave} onClick={close}>
            Close
          </button>
          <button
            type="submit"
            class={tried ? '' : 'main'}
            disabled={!action || reason.trim() === '' || (other && subject.trim() === '')}
          >
            Dry run
          </button>
          <button type="button" class={tried ? 'main danger' : ''} disabled={!tried} onClick={() => void ask(false)}>
            Do it
          </button>
        </p>
        {!tried && <p class="soft">"Do it" opens after a dry run of exactly this.</p>}
      </form>
    </dialog>
  );
}

// randomKey does without randomUUID, which browsers keep from pages without TLS.
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');
}

function Guards({ action }: { action: Action }) {
  return (
    <div>
      <h3>What may hold it back</h3>
      <ul>
        {action.guards.map((g) => (
          <li key={g.guard}>
            {g.reason}; <span class="soft">satisfied by {g.satisfied_by}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

import { useEffect, useRef } from 'preact/hooks';
import { signOut } from '../api/client.ts';
import { useAnswer } from '../api/use.ts';
import { marks } from '../lanes/mark.ts';
import { letters, toggleLetters } from './keys.tsx';

const keys: [string, string][] = [
  ['← →', 'the event before, the next event'],
  ['Shift ← →', 'move the lanes sideways'],
  ['+ −', 'zoom in, zoom out a little'],
  ['z', 'zoom out to everything'],
  ['e', 'evidence only'],
  ['s', 'hide symptoms'],
  ['t', 'table'],
  ['Esc', 'close the record'],
  ['/', 'search'],
  ['h', 'what is stuck or failed now'],
  ['?', 'this'],
];

export function Help({ close }: { close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const d = dialog.current!;
    d.showModal();
    return () => d.close();
  }, []);
  return (
    <dialog ref={dialog} class="card help" aria-labelledby="help" onClose={close}>
      <h2 id="help">Keys</h2>
      <dl>
        {keys.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <h3>Shapes</h3>
      <p>
        {marks.map((m) => (
          <span key={m.mark} class="shape">
            <span class={`mark ${m.mark}`} aria-hidden="true">
              {m.glyph}
            </span>{' '}
            {m.word}{' '}
          </span>
        ))}
      </p>
      <p>
        Drag in the lanes to zoom to a time; Shift and drag, or one finger, moves. The wheel zooms once the lanes have
        the focus. A dashed line leads from evidence to a symptom, an arrow from the layer that asked to the one that
        was asked; the circled arrow is the last that is proven to have arrived.
      </p>
      <Caller />
      <p class="buttons">
        <button type="button" aria-pressed={letters.value} onClick={toggleLetters}>
          Single letters {letters.value ? 'are on' : 'are off'}
        </button>
        <button type="button" class="main" onClick={close}>
          Close
        </button>
      </p>
    </dialog>
  );
}

// Caller says as whom the page asks, where the server wants to know.
function Caller() {
  const { answer: who } = useAnswer('/api/v1/session');
  if (!who || who.open) return null;
  return (
    <p>
      Signed in as <b>{who.subject}</b>, {who.role}
      {who.tenants && `, for ${who.tenants.join(', ')}`}.{' '}
      <button type="button" onClick={() => void signOut()}>
        Sign out
      </button>
    </p>
  );
}

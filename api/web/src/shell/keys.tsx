import { useEffect, useRef } from 'preact/hooks';
import { kept } from './kept.ts';

// Single letters can be turned off (WCAG 2.1.4): who dictates would press them by speaking.
const choice = kept('faultline.keys', 'on', ['on', 'off'] as const);
export const letters = choice.map((v) => v === 'on');
export const toggleLetters = () => choice.set(letters.value ? 'off' : 'on');

export type Keys = Record<string, (e: KeyboardEvent) => void>;

const typing = 'input, textarea, select, dialog, [contenteditable]';
const ownArrows = '[role="grid"], input[type="range"], pre';

// useKeys binds keys while its component is there, and leaves them to whatever takes text.
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      const target = e.target as Element | null;
      if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || target?.closest?.(typing)) return;
      if (document.querySelector('dialog[open]')) return; // wherever the focus is, keys are the dialog's
      if (e.key.length === 1 && !letters.value) return;
      const name = e.shiftKey && e.key.length > 1 ? `Shift+${e.key}` : e.key;
      const act = latest.current[name];
      if (
        !act ||
        (name.includes('Arrow') && target?.closest?.(ownArrows) && !name.endsWith('Left') && !name.endsWith('Right'))
      )
        return;
      e.preventDefault();
      act(e);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

import { computed, effect, signal } from '@preact/signals';
import { kept } from './kept.ts';

const choice = kept('faultline.theme', 'system', ['system', 'light', 'dark'] as const);
const dark = matchMedia('(prefers-color-scheme: dark)');
const system = signal(dark.matches);
dark.addEventListener('change', () => (system.value = dark.matches));

export const theme = choice.map((v) => v);

// scheme is what is shown: the reader's choice, or else the system's.
export const scheme = computed(() => (theme.value === 'system' ? (system.value ? 'dark' : 'light') : theme.value));

effect(() => {
  document.documentElement.dataset['theme'] = scheme.value;
});

export function toggleTheme(): void {
  choice.set(scheme.value === 'dark' ? 'light' : 'dark');
}

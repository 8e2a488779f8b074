import { signal } from '@preact/signals';
import { kept } from '../shell/kept.ts';

const times = kept('faultline.times', 'utc', ['utc', 'relative'] as const);

// relative says whether times are shown as how long ago instead of in UTC.
export const relative = times.map((v) => v === 'relative');

export function toggleTimes(): void {
  times.set(relative.value ? 'utc' : 'relative');
}

// now moves often enough for what is shown in seconds, and rests while nobody looks.
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 5000);

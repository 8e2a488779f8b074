import { oneLine, visible } from './visible.ts';

// Told is text that somebody else wrote: isolated, so that its direction is its own.
export function Told({ text, lines = false }: { text: string; lines?: boolean }) {
  return <bdi>{lines ? visible(text) : oneLine(text)}</bdi>;
}

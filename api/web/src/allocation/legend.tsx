import { marks } from '../lanes/mark.ts';

// Legend names the shapes; none of them is told by its colour alone.
export function Legend() {
  return (
    <p class="legend" aria-label="Shapes">
      {marks.map((m) => (
        <span key={m.mark}>
          <span class={`mark ${m.mark}`} aria-hidden="true">
            {m.glyph}
          </span>{' '}
          {m.word}
        </span>
      ))}
      <span>▨ silence</span>
    </p>
  );
}

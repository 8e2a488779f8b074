import { millis, ago, clock, day, full } from './time.ts';
import { now, relative } from './setting.ts';

// When shows a moment as the reader wants it, in UTC or as how long ago; the other form is its tooltip.
export function When({ at, digits = 0, dated = false }: { at: string | number; digits?: number; dated?: boolean }) {
  const ms = typeof at === 'number' ? at : millis(at);
  if (!Number.isFinite(ms)) return <span>unknown</span>;
  const distance = ago(ms, now.value);
  const away = dated || day(ms) !== day(now.value);
  const moment = `${away ? `${day(ms)} ` : ''}${clock(ms, digits)}`;
  return (
    <time dateTime={new Date(ms).toISOString()} title={relative.value ? full(ms) : distance}>
      {relative.value ? distance : moment}
    </time>
  );
}

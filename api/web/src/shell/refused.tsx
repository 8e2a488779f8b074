import type { Problem } from '../api/answers.ts';
import { sentence, visible } from '../text/visible.ts';

// Refused shows a problem document as it is: its title and detail are written for whoever reads the page.
export function Refused({ problem: p, quiet = false }: { problem: Problem; quiet?: boolean }) {
  return (
    <div class={`refused ${quiet ? 'quiet' : ''}`} role={quiet ? undefined : 'alert'}>
      <b>{sentence(p.title)}</b>
      {p.status > 0 && <span class="soft"> ({p.status})</span>}
      {p.detail && <p>{visible(p.detail)}</p>}
    </div>
  );
}

import { get } from '../api/client.ts';
import { to } from '../route/route.ts';

// find says where an identifier of any kind leads: to its one allocation, to its node, or to what is like it.
export async function find(text: string): Promise<string> {
  if (/\s/.test(text)) return to.search(text);
  try {
    const known = await get('/api/v1/lookup/{id}', { path: { id: text } });
    if (known.kinds.includes('node')) return to.node(text);
    if (known.allocations.length === 1) return to.allocation(known.allocations[0]!.allocation_id);
    if (known.kinds.includes('trace') && known.allocations.length === 0) return to.trace(text);
  } catch {
    // what is unknown is searched for; a server that does not answer says so there
  }
  return to.search(text);
}

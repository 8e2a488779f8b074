import { fake } from './server.ts';
import { large } from './large.ts';

const f = await fake([large()], Number(process.env['PORT'] ?? 8690));
console.log(`the page, over fixtures: ${f.url}/ui/`);

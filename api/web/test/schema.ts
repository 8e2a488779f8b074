// The types of the API come from its description: `npm run types` writes them, a test says when they are stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

const description = '../openapi.yaml';

export const file = 'src/api/schema.ts';

export async function generated(): Promise<string> {
  const tree = await openapiTS(pathToFileURL(description));
  return `// Made from api/openapi.yaml by npm run types; not written by hand.\n${astToString(tree)}`;
}

if (process.argv.includes('--write')) writeFileSync(file, await generated());
else if (process.argv[1]?.endsWith('schema.ts') && readFileSync(file, 'utf8') !== (await generated())) {
  console.error(`${file} is stale: npm run types`);
  process.exitCode = 1;
}

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { file, generated } from './schema.ts';

test("the API's types are those of its description", async () => {
  assert.equal(readFileSync(file, 'utf8'), await generated(), `${file} is stale: npm run types`);
});

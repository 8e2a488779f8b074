// Writes dashboards/*.json, or with --check says which of them is not what it would write.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { allocation } from './allocation.ts';
import { build, type Described } from './dashboard.ts';
import { fleet } from './fleet.ts';
import { layers } from './layers.ts';
import { node } from './node.ts';
import { pipeline } from './pipeline.ts';
import { providers } from './providers.ts';

const folder = new URL('../dashboards/', import.meta.url);
const all: Described[] = [fleet, allocation, layers, providers, node, pipeline];

// The SDK sets a placement by itself that hides links and annotations in a menu.
const shown = (key: string, value: unknown) => (key === 'placement' && value === 'inControlsMenu' ? undefined : value);

const wanted = new Map(all.map((d) => [`${d.name}.json`, JSON.stringify(build(d).build(), shown, 2) + '\n']));
const there = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.json')) : [];

if (process.argv.includes('--check')) {
  const stale = [...new Set([...wanted.keys(), ...there])].filter(
    (file) => !there.includes(file) || readFileSync(new URL(file, folder), 'utf8') !== wanted.get(file),
  );
  if (stale.length > 0) {
    console.error(`dashboards/grafana/dashboards: ${stale.join(', ')} not as generated: npm run generate`);
    process.exitCode = 1;
  }
} else {
  mkdirSync(folder, { recursive: true });
  for (const file of there) if (!wanted.has(file)) rmSync(new URL(file, folder));
  for (const [file, text] of wanted) writeFileSync(new URL(file, folder), text);
}

// Every committed dashboard, to its last property, against the SDK's types: the compiler is asked whether the JSON, as a literal, is one.
// A property that no type has is refused, as is a value that its enum lacks. What a panel's options may be depends on its kind.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const here = dirname(fileURLToPath(import.meta.url));
const folder = join(here, '../dashboards');

const types = `
import type * as d from '@grafana/grafana-foundation-sdk/dashboard';
import type * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import type * as logs from '@grafana/grafana-foundation-sdk/logs';
import type * as loki from '@grafana/grafana-foundation-sdk/loki';
import type * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import type * as stat from '@grafana/grafana-foundation-sdk/stat';
import type * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import type * as table from '@grafana/grafana-foundation-sdk/table';
import type * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import type { ClickHouseQuery } from '../src/clickhouse.ts';

// What stands in JSON where a type has enums and methods.
type Json<T> = T extends (...a: never[]) => unknown ? never
  : T extends string ? \`\${T}\`
  : T extends number ? (\`\${T}\` extends \`\${infer N extends number}\` ? N : T)
  : T extends (infer E)[] ? Json<E>[]
  : T extends object ? { [K in keyof T as T[K] extends (...a: never[]) => unknown ? never : K]: Json<T[K]> }
  : T;

type Query = Json<prometheus.Dataquery> | Json<loki.dataquery> | Json<ClickHouseQuery>;
type Drawn<Kind extends string, Options, Custom> = Omit<Json<d.Panel>, 'type' | 'targets' | 'options' | 'fieldConfig'> & {
  type: Kind;
  id: number;
  title: string;
  targets: Query[];
  options: Json<Partial<Options>>;
  fieldConfig?: Omit<Json<d.FieldConfigSource>, 'defaults'> & { defaults: Omit<Json<d.FieldConfig>, 'custom'> & { custom?: Json<Partial<Custom>> } };
};
type Panel =
  | Json<d.RowPanel>
  | Drawn<'timeseries', timeseries.Options, timeseries.FieldConfig>
  | Drawn<'stat', stat.Options, never>
  | Drawn<'bargauge', bargauge.Options, never>
  | Drawn<'state-timeline', statetimeline.Options, statetimeline.FieldConfig>
  | Drawn<'table', table.Options, table.FieldConfig>
  | Drawn<'logs', logs.Options, never>;
type Annotations = { list: (Omit<Json<d.AnnotationQuery>, 'target'> & { target: Query })[] };
type Dashboard = Omit<Json<d.Dashboard>, 'panels' | 'annotations'> & { uid: string; title: string; panels: Panel[]; annotations: Annotations };
`;

const files = new Map<string, string>();
for (const name of readdirSync(folder)) {
  const text = readFileSync(join(folder, name), 'utf8');
  files.set(join(here, name.replace('.json', '.strict.ts')), `${types}\nexport const it: Dashboard = ${text};\n`);
}

// holds says whether the compiler takes all of the files; it tells what it does not take.
function holds(of: Map<string, string>): string[] {
  const config = ts.readConfigFile(join(here, '../tsconfig.json'), (path) => readFileSync(path, 'utf8')).config;
  const options = ts.parseJsonConfigFileContent(config, ts.sys, join(here, '..')).options;
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (path) => of.has(path) || fileExists(path);
  host.readFile = (path) => of.get(path) ?? readFile(path);
  host.getSourceFile = (path, target, ...rest) => {
    const text = of.get(path);
    return text === undefined ? getSourceFile(path, target, ...rest) : ts.createSourceFile(path, text, target);
  };
  const program = ts.createProgram([...of.keys()], { ...options, noUnusedLocals: false }, host);
  return ts.getPreEmitDiagnostics(program).map((d) => {
    const at =
      d.file && d.start !== undefined
        ? d.file.getLineAndCharacterOfPosition(d.start).line - types.split('\n').length
        : 0;
    return `${d.file?.fileName.split('/').pop() ?? ''}:${at}: ${ts.flattenDiagnosticMessageText(d.messageText, '\n')}`;
  });
}

// Each of these makes one thing wrong: a check that does not see it is none.
const wrong: [what: string, from: RegExp, to: string][] = [
  ['a property that no type has', /"editable": false/, '"editable": false, "editible": true'],
  ['a property of a panel', /"type": "stat",/, '"type": "stat", "colour": "red",'],
  ['an option of a panel', /"graphMode": "none"/, '"graphMode": "none", "graphModes": "none"'],
  ['a value that is no member of its enum', /"colorMode": "value"/, '"colorMode": "valeu"'],
  ['a kind of panel', /"type": "stat"/, '"type": "statt"'],
  ['a query', /"instant": true/, '"instant": "true"'],
  ['a query without its expression', /"expr": /, '"exper": '],
];

const problems = holds(files);
if (files.size !== 6) problems.push(`${files.size} dashboards`);
const [path, text] = [...files].find(([name]) => name.endsWith('fleet.strict.ts'))!;
const broken = new Map(
  wrong.map(([what, from, to], i) => {
    if (!from.test(text.slice(types.length))) problems.push(`nothing to break for ${what}`);
    return [path.replace('fleet', `wrong${i}`), types + text.slice(types.length).replace(from, to)];
  }),
);
const seen = holds(broken);
wrong.forEach(([what], i) => {
  if (!seen.some((line) => line.startsWith(`wrong${i}.`))) problems.push(`${what} is wrong and nobody says so`);
});
if (problems.length > 0) {
  console.error(problems.slice(0, 40).join('\n'));
  process.exitCode = 1;
}

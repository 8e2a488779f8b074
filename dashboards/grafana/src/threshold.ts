import { readFileSync } from 'node:fs';
import { ThresholdsConfigBuilder, ThresholdsMode, type Threshold } from '@grafana/grafana-foundation-sdk/dashboard';
import { parse } from 'yaml';

interface Rule {
  alert?: string;
  expr: string;
  labels?: Record<string, string>;
}

const file = new URL('../../prometheus/faultline.rules.yml', import.meta.url);
const all = (parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap((g) => g.rules);

// least is where a threshold stands that means "more than none": thresholds hold from their value on. A count is one; a rate over five minutes
// of one event is more.
const least = { count: 1, rate: 0.001 };

const find = (alert: string): Rule | undefined => all.find((r) => r.alert === alert);

const colour = (rule: Rule): string => (rule.labels?.['severity'] === 'critical' ? 'red' : 'orange');

// step is the value from which an alert fires, in the colour of its severity.
function step(alert: string, kind: keyof typeof least): Threshold {
  const rule = find(alert);
  const number = rule && /> ([0-9.]+)/.exec(rule.expr);
  if (!rule || !number) throw new Error(`${alert} is no alert rule with a number`);
  return {
    value: Number(number[1]) || least[kind],
    color: rule.labels?.['severity'] === 'critical' ? 'red' : 'orange',
  };
}

// as gives the thresholds of alert rules: what a panel colours is what somebody is told of.
export function as(alerts: string[], kind: keyof typeof least = 'count'): ThresholdsConfigBuilder {
  const steps = alerts.map((alert) => step(alert, kind)).sort((a, b) => Number(a.value) - Number(b.value));
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([{ value: null, color: 'green' }, ...steps]);
}

// below gives the threshold of an alert rule that fires where there is less than a number.
export function below(alert: string): ThresholdsConfigBuilder {
  const rule = find(alert);
  const number = rule && / < ([0-9.]+)$/.exec(rule.expr);
  if (!rule || !number) throw new Error(`${alert} is no alert rule that ends with a number`);
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
    { value: null, color: colour(rule) },
    { value: Number(number[1]), color: 'green' },
  ]);
}

// down colours what is not 1.
export const down = (): ThresholdsConfigBuilder =>
  new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
    { value: null, color: 'red' },
    { value: 1, color: 'green' },
  ]);

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../src/config/package.js';

export const prometheusDir = join(packageRoot, 'deploy/prometheus');
const grafanaDir = join(packageRoot, 'deploy/grafana');

export interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export function rulesIn(file: string): Rule[] {
  const { groups } = parse(readFileSync(join(prometheusDir, file), 'utf8')) as {
    groups: { rules: Rule[] }[];
  };
  return groups.flatMap(({ rules }) => rules);
}

export interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  datasource?: { type: string; uid: string };
  gridPos: { h: number; w: number; x: number; y: number };
  targets?: { refId: string; expr: string; legendFormat: string }[];
}

export interface Dashboard {
  uid: string;
  title: string;
  schemaVersion: number;
  templating: { list: { name: string; type: string; definition?: string }[] };
  panels: Panel[];
}

export const dashboards = readdirSync(grafanaDir)
  .filter((name) => name.endsWith('.json'))
  .map((name) => [name, JSON.parse(readFileSync(join(grafanaDir, name), 'utf8')) as Dashboard] as const);

/** The expression with Grafana's variables filled in. */
export function filledIn(expr: string): string {
  return expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*');
}

export const panelExpressions = dashboards.flatMap(([file, { panels }]) =>
  panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ where: `${file}: ${title}`, expr: filledIn(expr) })),
  ),
);

export interface Selection {
  metric: string;
  /** The labels of its matchers. */
  labels: string[];
}

const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g;
const WORDS = new Set(['and', 'or', 'unless', 'bool', 'offset']);

/** The series that an expression selects. */
export function selectionsIn(expr: string): Selection[] {
  const bare = expr.replace(GROUPING, ' ').replace(/\[[^\]]*\]/g, ' ');
  const selections: Selection[] = [];
  for (const [, metric = '', opening] of bare
    .replace(/"(?:[^"\\]|\\.)*"/g, '""')
    .matchAll(/(?<![\w.:])([a-zA-Z_:][\w:]*)\s*(\(|\{[^}]*\})?/g)) {
    if (opening !== '(' && !WORDS.has(metric)) {
      const labels = [...(opening ?? '').matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label);
      selections.push({ metric, labels });
    }
  }
  return selections;
}

/** The metric name without the suffix of a histogram sample. */
export function familyOf(metric: string, isHistogram: (name: string) => boolean): string {
  const [, family = metric] = /^(.*)_(?:bucket|sum|count)$/.exec(metric) ?? [];
  return isHistogram(family) ? family : metric;
}

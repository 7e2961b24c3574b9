import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { describeMetrics } from '../../src/telemetry/metric-list.js';
import { pagesOf } from '../docs/markup.js';
import { renderedSite } from '../support/docs-server.js';
import { temporaryDirectories } from '../support/temporary-directory.js';
import { describeWith } from '../support/toolchains.js';
import {
  dashboards,
  familyOf,
  panelExpressions,
  prometheusDir,
  rulesIn,
  selectionsIn,
} from './expressions.js';

const recording = rulesIn('recording.yml');
const alerts = rulesIn('alerts.yml');
const newDirectory = temporaryDirectories(afterEach);
const unitTests = ['alerts.test.yml', 'alerts-slow.test.yml'];

interface UnitTest {
  alert_rule_test?: { alertname: string; exp_alerts: unknown[] }[];
}

const metrics = new Map(describeMetrics().map((metric) => [metric.name, metric]));
const isHistogram = (name: string) => metrics.get(name)?.type === 'histogram';
const recorded = new Set(recording.map(({ record }) => record));
/** Labels that every sample has, or that Prometheus adds. */
const COMMON_LABELS = ['role', 'instance', 'job', 'slo'];

const expressions = [
  ...[...recording, ...alerts].map(({ record, alert, expr }) => ({ where: record ?? alert ?? '', expr })),
  ...panelExpressions,
];

describe('what an expression selects', () => {
  test('is read from it with the labels of its matchers', () => {
    expect(
      selectionsIn(
        'histogram_quantile(0.9, sum by (le, a) (rate(x_bucket{a=~"b|c{", d!="e"}[5m]))) > on(a) 14.4 * up',
      ),
    ).toEqual([
      { metric: 'x_bucket', labels: ['a', 'd'] },
      { metric: 'up', labels: [] },
    ]);
    expect(selectionsIn('a:b:rate5m and c == 1 or vector(0)').map(({ metric }) => metric)).toEqual([
      'a:b:rate5m',
      'c',
    ]);
  });
});

test('rules and dashboards name metrics and labels that the service has', () => {
  expect(expressions.length).toBeGreaterThan(80);
  const faults = expressions.flatMap(({ where, expr }) =>
    selectionsIn(expr).flatMap(({ metric, labels }) => {
      const known = metrics.get(familyOf(metric, isHistogram));
      if (known === undefined) {
        return metric === 'up' || recorded.has(metric) ? [] : [`${where}: there is no ${metric}`];
      }
      const own = [...known.labels, ...COMMON_LABELS, ...(metric.endsWith('_bucket') ? ['le'] : [])];
      return labels
        .filter((label) => !own.includes(label))
        .map((label) => `${where}: ${metric} has no ${label}`);
    }),
  );
  expect(faults).toEqual([]);
});

test('each rule sees several scrapes, also at the default interval of Prometheus, a minute', () => {
  const ranges = [...recording, ...alerts].flatMap(({ expr }) => expr.match(/\[\w+\]/g) ?? []);
  expect(ranges.length).toBeGreaterThan(20);
  expect(ranges.filter((range) => /^\[(?:\d+m?s|[1-3]m)\]$/.test(range))).toEqual([]);
});

test('every metric of the service is in a dashboard or an alert', () => {
  const named = new Set(
    expressions.flatMap(({ expr }) => selectionsIn(expr).map(({ metric }) => familyOf(metric, isHistogram))),
  );
  const own = [...metrics.values()].filter(({ isDefault }) => !isDefault).map(({ name }) => name);
  expect(own.filter((name) => !named.has(name))).toEqual([]);
});

describe.each(alerts.map((alert) => [alert.alert ?? '', alert] as const))('the alert %s', (name, alert) => {
  test('says how urgent it is, what is wrong, and where its runbook is', () => {
    expect(alert.labels?.severity).toMatch(/^(?:page|ticket)$/);
    expect(alert.annotations).toMatchObject({
      summary: expect.stringMatching(/./),
      description: expect.stringMatching(/\.$/),
    });
    const slug = name.replace(/(?!^)(?=[A-Z])/g, '-').toLowerCase();
    expect(alert.annotations?.runbook_url).toBe(`/docs/operate/runbooks#${slug}`);
  });

  test('has a unit test in which it fires and one in which it does not', () => {
    const counts = unitTests
      .flatMap((file): UnitTest[] => parse(readFileSync(join(prometheusDir, file), 'utf8')).tests)
      .flatMap(({ alert_rule_test: all = [] }) => all)
      .filter(({ alertname }) => alertname === name)
      .map(({ exp_alerts }) => exp_alerts.length);
    expect([...new Set(counts)].sort()).toEqual([0, 1]);
  });
});

test('each alert has its section in the runbooks, and no other has', () => {
  const page = pagesOf(renderedSite()).find(({ path }) => path === '/docs/operate/runbooks');
  const sections = page?.headings.filter(({ level }) => level === 2).length;
  const anchors = alerts.map(({ annotations }) => annotations?.runbook_url?.split('#')[1]);
  expect(page?.ids).toEqual(expect.arrayContaining(anchors));
  expect(sections).toBe(alerts.length);
  for (const { alert, labels } of alerts) {
    expect(page?.text).toContain(`<code>${alert}</code> · ${labels?.severity}.`);
  }
});

describeWith('promtool', 'Prometheus', (promtool) => {
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(promtool, args, { cwd: prometheusDir, encoding: 'utf8' });
    return { status, output: `${stdout}${stderr}` };
  };

  test('takes the configuration with its rules', () => {
    expect(run('check', 'config', 'prometheus.yml')).toMatchObject({ status: 0 });
    expect(run('check', 'rules', 'recording.yml', 'alerts.yml')).toMatchObject({
      status: 0,
      output: expect.stringContaining(`${alerts.length} rules found`),
    });
  });

  test('fires each alert when it should, and not before', () => {
    expect(run('test', 'rules', ...unitTests)).toMatchObject({
      status: 0,
      output: expect.stringContaining('SUCCESS'),
    });
  });

  test('understands every query of the dashboards', () => {
    expect(dashboards).toHaveLength(4);
    const file = join(newDirectory(), 'queries.yml');
    const rules = panelExpressions.map(({ expr }, index) => ({ record: `query_${index}`, expr }));
    writeFileSync(file, stringify({ groups: [{ name: 'queries', rules }] }));
    expect(run('check', 'rules', file)).toMatchObject({
      status: 0,
      output: expect.stringContaining(`${rules.length} rules found`),
    });
  });
});

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { prometheusDir } from '../deploy/expressions.js';

/** What `/metrics` answered, and for how many minutes Prometheus would have read the same. */
export interface Scraped {
  metrics: string;
  minutes: number;
}

const SAMPLE = /^([a-z_]\w*)(?:\{(.*)\})? (-?[\d.]+(?:e[+-]?\d+)?)$/gim;
const RULE_FILES = ['recording.yml', 'alerts.yml'].map((name) => join(prometheusDir, name));
/** Metrics whose value is a time: for `promtool`, the present begins at 0. */
const TIME = /_(?:timestamp|not_after|renewal_due)_seconds$/;
const TARGET = 'instance="127.0.0.1:4003",job="integration"';

/** Whether an alert fires after Prometheus has read these, according to the rules and `promtool`. */
export function isFiring(
  promtool: string,
  folder: string,
  alertname: string,
  scraped: readonly Scraped[],
): boolean {
  const minutes = scraped.reduce((sum, each) => sum + each.minutes, 0);
  const file = join(folder, 'alerts.test.yml');
  const fires = {
    expr: `count(ALERTS{alertname="${alertname}",alertstate="firing"}) > bool 0`,
    eval_time: `${minutes - 1}m`,
    exp_samples: [{ labels: '{}', value: 1 }],
  };
  const tests = [{ interval: '1m', input_series: seriesOf(scraped), promql_expr_test: [fires] }];
  writeFileSync(file, stringify({ rule_files: RULE_FILES, evaluation_interval: '1m', tests }));
  const { status, stdout, stderr } = spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' });
  if (status !== 0 && !/^ *got: ?nil$/m.test(stdout + stderr)) {
    throw new Error(`promtool does not say whether ${alertname} fires:\n${stdout}${stderr}`);
  }
  return status === 0;
}

function seriesOf(scraped: readonly Scraped[]): { series: string; values: string }[] {
  const now = Date.now() / 1_000;
  const samples = scraped.map(({ metrics }) => {
    const found = [...metrics.matchAll(SAMPLE)];
    return new Map(
      found.map(([, name = '', labels, value]) => [
        `${name}{${labels ? `${labels},` : ''}${TARGET}}`,
        TIME.test(name) ? Number(value) - now : Number(value),
      ]),
    );
  });
  const names = new Set(samples.flatMap((each) => [...each.keys()]));
  return [...names].map((series) => ({
    series,
    values: scraped
      .map(({ minutes }, index) => {
        const value = samples[index]?.get(series);
        return value === undefined ? `_x${minutes}` : `${value}+0x${minutes - 1}`;
      })
      .join(' '),
  }));
}

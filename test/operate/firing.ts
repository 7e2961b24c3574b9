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
/** Metrics whose value is a time: for `promtool`, the present begins at 0. */
const TIME = /_timestamp_seconds$|_not_after_seconds$/;
const TARGET = 'instance="127.0.0.1:4003",job="integration"';

/** Whether an alert fires after Prometheus has read these, according to the rules and `promtool`. */
export function isFiring(
  promtool: string,
  folder: string,
  alertname: string,
  scraped: readonly Scraped[],
): boolean {
  const minutes = scraped.reduce((sum, each) => sum + each.minutes, 0);
  const verdict = (samples: object[]) => {
    const file = join(folder, 'alerts.test.yml');
    const firing = {
      expr: `count(ALERTS{alertname="${alertname}",alertstate="firing"}) > bool 0`,
      eval_time: `${minutes - 1}m`,
    };
    const tests = [
      {
        interval: '1m',
        input_series: seriesOf(scraped),
        promql_expr_test: [{ ...firing, exp_samples: samples }],
      },
    ];
    const rule_files = ['recording.yml', 'alerts.yml'].map((name) => join(prometheusDir, name));
    writeFileSync(file, stringify({ rule_files, evaluation_interval: '1m', tests }));
    return spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' });
  };
  const [none, one] = [verdict([]), verdict([{ labels: '{}', value: 1 }])];
  if (none.status === one.status) {
    throw new Error(
      `promtool does not say whether ${alertname} fires:\n${none.stdout}${none.stderr}${one.stderr}`,
    );
  }
  return one.status === 0;
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

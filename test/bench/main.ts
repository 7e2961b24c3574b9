import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Comparison } from './harness/comparison.js';
import { progressOn } from './harness/progress.js';
import { costTableOf, tableOf, writeCosts, writeLatest } from './harness/report.js';
import { runAll } from './harness/run.js';
import { IDLE_CONNECTIONS, idleConnections } from './rows/idle-connections.js';
import { comparisons } from './rows/index.js';

const ROOT = join(import.meta.dirname, '../..');
const LATEST = join(ROOT, '.data/bench/latest.json');
/** The page of the documentation is made from it. */
const PUBLISHED = join(ROOT, 'src/docs/costs.json');
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;

const HELP = `Measures the service in turn with its peers and floors.

  --only <text>   only rows with this in their name, and those read together with them
  --rounds <n>    so many rounds that count, instead of what each row asks for
  --publish       only the rows whose costs the documentation shows, and writes these to src/docs/costs.json
`;

const { only, rounds, publish, help } = readArguments();
if (help) {
  process.stdout.write(HELP);
  process.exit();
}
const eligible = publish ? comparisons.filter(isPublished) : comparisons;
const selected = eligible.filter(({ rows }) => Object.keys(rows).some((name) => name.includes(only)));
if (selected.length === 0) {
  refuse(`No row has "${only}" in its name. There are:\n${namesOf(comparisons).join('\n')}`);
}

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => interruption.abort());
}
const { progress, clear } = progressOn(process.stderr);
const { measured, costs, failed } = await runAll(selected, {
  rounds,
  progress,
  interrupted: interruption.signal,
});
clear();
if (measured.length + failed.length > 0) {
  process.stdout.write(`\n${tableOf(measured, failed)}\n${costTableOf(costs)}`);
}
if (interruption.signal.aborted) {
  process.exit(EXIT_INTERRUPTED);
}
const idle = measured.find(({ result }) => result.name === IDLE_CONNECTIONS);
if (publish && failed.length === 0 && idle) {
  writeCosts(PUBLISHED, costs, idle.result.ours);
}
const untouched = namesOf(comparisons.filter((given) => !selected.includes(given)));
writeLatest(
  LATEST,
  measured.map(({ result }) => result),
  untouched,
);
process.exitCode = failed.length > 0 ? 1 : 0;

function isPublished(given: Comparison): boolean {
  return given.priced !== undefined || given === idleConnections;
}

function namesOf(given: readonly Comparison[]): string[] {
  return given.flatMap(({ rows }) => Object.keys(rows));
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', default: '' },
        rounds: { type: 'string' },
        publish: { type: 'boolean', default: false },
        help: { type: 'boolean' },
      },
    });
    if (values.rounds !== undefined && !/^[1-9]\d{0,3}$/.test(values.rounds)) {
      return refuse('--rounds takes a number from 1 to 9999.');
    }
    if (values.publish && values.only !== '') {
      return refuse('--publish measures all that is published: leave out --only.');
    }
    return { ...values, rounds: values.rounds === undefined ? undefined : Number(values.rounds) };
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(EXIT_USAGE);
}

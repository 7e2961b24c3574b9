import { type Comparison, type Cost, costOf, type Priced, type Reading, type Terms } from './comparison.js';
import type { Progress } from './progress.js';
import type { Scope } from './scope.js';

/** A row of `.data/bench/latest.json`. */
export interface Result extends Terms {
  name: string;
  ours: number;
  reference: number;
  ratio: number;
}

/** With the least and greatest ratio of a single round, which say how far the machine can be believed. */
export interface MeasuredRow {
  result: Result;
  spread: readonly [least: number, greatest: number];
}

/** The median of each part. */
export type MeasuredCost = Priced & Cost;

export interface Measured {
  rows: MeasuredRow[];
  costs: MeasuredCost[];
}

interface Round {
  ours: Reading;
  reference: Reading;
}

/** Measures ours and its reference in turn, so that other load affects both alike. */
export async function measure(
  { rows, priced, warmUpRounds, rounds, setUp }: Comparison,
  scope: Scope,
  progress: Progress,
): Promise<Measured> {
  progress('setting up');
  const measured: Round[] = [];
  const costs: Cost[] = [];
  let isWarm = false;
  const sides = await setUp(scope, (cost) => {
    if (isWarm) {
      costs.push(cost);
    }
  });
  for (let round = 1 - warmUpRounds; round <= rounds; round += 1) {
    isWarm = round >= 1;
    const step = round < 1 ? 'warming up' : `round ${round} of ${rounds}`;
    progress(`${step}: ours`);
    const ours = await sides.ours();
    progress(`${step}: reference`);
    const reference = await sides.reference();
    if (isWarm) {
      measured.push({ ours, reference });
    }
  }
  return {
    rows: Object.entries(rows).map(([name, terms]) => summarise(name, terms, measured)),
    costs: priced ? [{ ...priced, ...medianOf(costs) }] : [],
  };
}

function medianOf(noted: readonly Cost[]): Cost {
  return costOf((part) => median(noted.map((cost) => cost[part])));
}

function summarise(name: string, terms: Terms, rounds: readonly Round[]): MeasuredRow {
  const read = (reading: Reading) => {
    const value = reading[name];
    if (value === undefined || !Number.isFinite(value) || value <= 0) {
      throw new Error(`"${name}" was read as ${value}, which is no measurement.`);
    }
    return value;
  };
  const ours = median(rounds.map((round) => read(round.ours)));
  const reference = median(rounds.map((round) => read(round.reference)));
  const { referenceName, goal, higherIsBetter } = terms;
  const ratios = rounds.map((round) => read(round.ours) / read(round.reference));
  return {
    result: { name, ours, reference, referenceName, ratio: ours / reference, goal, higherIsBetter },
    spread: [Math.min(...ratios), Math.max(...ratios)],
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  const lower = sorted[sorted.length % 2 === 0 ? middle - 1 : middle];
  if (upper === undefined || lower === undefined) {
    throw new Error('There is no median of nothing.');
  }
  return (lower + upper) / 2;
}

/** Undefined without a goal. */
export function isMet({ ratio, goal, higherIsBetter }: Result): boolean | undefined {
  if (goal === undefined) {
    return undefined;
  }
  return higherIsBetter ? ratio >= goal : ratio <= goal;
}

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import type { Costs } from '../../../src/docs/costs-page.js';
import { costOf } from './comparison.js';
import { isMet, type MeasuredCost, type MeasuredRow, type Result } from './measure.js';

export interface FailedRow {
  name: string;
  reason: string;
}

const HEADINGS = ['', 'ours', 'reference', '', 'ratio', 'rounds', 'goal', ''];
const RIGHT_ALIGNED = new Set([1, 2, 4, 5, 6]);
const COST_HEADINGS = ['for a million of', 'edge s', 'domain s', 'worker s', 'all s', 'MB written'];

/** The table for people: medians, their ratio, the spread of rounds, and whether the goal is met. */
export function tableOf(rows: readonly MeasuredRow[], failed: readonly FailedRow[]): string {
  const drawn = aligned([HEADINGS, ...rows.map(cellsOf)], (column) => RIGHT_ALIGNED.has(column));
  const failures = failed.map(({ name, reason }) => `${name}: FAILED. ${reason}`);
  return [...(rows.length > 0 ? drawn : []), ...failures].join('\n');
}

/** What a million of each takes. */
export function costTableOf(costs: readonly MeasuredCost[]): string {
  const lines = costs.map(({ what, edge, domain, worker, written }) => [
    what,
    ...[edge, domain, worker, edge + domain + worker, written].map(readable),
  ]);
  return lines.length === 0
    ? ''
    : `\n${aligned([COST_HEADINGS, ...lines], (column) => column > 0).join('\n')}\n`;
}

function aligned(lines: readonly string[][], isRight: (column: number) => boolean): string[] {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  );
  return lines.map((cells) =>
    cells
      .map((cell, column) =>
        isRight(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}

function cellsOf({ result, spread }: MeasuredRow): string[] {
  const { name, ours, reference, referenceName, ratio, goal, higherIsBetter } = result;
  const met = isMet(result);
  return [
    name,
    readable(ours),
    readable(reference),
    referenceName,
    readable(ratio),
    spread.map(readable).join('–'),
    goal === undefined ? 'none' : `${higherIsBetter ? '≥' : '≤'} ${goal}`,
    met === undefined ? '' : met ? 'met' : 'missed',
  ];
}

/** Three digits that count, and whole thousands written out. */
function readable(value: number): string {
  return value >= 100
    ? Math.round(value).toLocaleString('en')
    : value.toLocaleString('en', { maximumSignificantDigits: 3 });
}

/** Writes the results. A partial run keeps the other rows, except failed and removed ones. */
export function writeLatest(file: string, measured: readonly Result[], untouched: readonly string[]): void {
  const kept = readLatest(file).filter(({ name }) => untouched.includes(name));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${JSON.stringify([...kept, ...measured], null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

/** Writes what the page of costs shows. */
export function writeCosts(
  file: string,
  costs: readonly MeasuredCost[],
  idleConnectionsMegabytes: number,
): void {
  const processors = cpus();
  const published: Costs = {
    measuredOn: new Date().toISOString().slice(0, 'YYYY-MM-DD'.length),
    machine: `${processors.length} cores, ${processors[0]?.model.trim()}, Node ${process.versions.node}`,
    idleConnectionsMegabytes: rounded(idleConnectionsMegabytes),
    costs: costs.map((cost) => ({
      what: cost.what,
      limit: cost.limit,
      ...costOf((part) => rounded(cost[part])),
    })),
  };
  writeFileSync(file, `${JSON.stringify(published, null, 2)}\n`);
}

/** Two digits that count: rounds differ by more than the third. */
function rounded(value: number): number {
  return Number(value.toPrecision(2));
}

function readLatest(file: string): Result[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Result[];
  } catch {
    return [];
  }
}

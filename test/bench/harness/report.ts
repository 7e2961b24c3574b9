import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isMet, type MeasuredRow, type Result } from './measure.js';

export interface FailedRow {
  name: string;
  reason: string;
}

const HEADINGS = ['', 'ours', 'reference', '', 'ratio', 'rounds', 'goal', ''];
const RIGHT_ALIGNED = new Set([1, 2, 4, 5, 6]);

/** The table for people: medians, their ratio, the spread of rounds, and whether the goal is met. */
export function tableOf(rows: readonly MeasuredRow[], failed: readonly FailedRow[]): string {
  const lines = [HEADINGS, ...rows.map(cellsOf)];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const drawn = lines.map((cells) =>
    cells
      .map((cell, column) =>
        RIGHT_ALIGNED.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  const failures = failed.map(({ name, reason }) => `${name}: FAILED. ${reason}`);
  return [...(rows.length > 0 ? drawn : []), ...failures].join('\n');
}

function cellsOf({ result, spread }: MeasuredRow): string[] {
  const { name, ours, reference, referenceName, ratio, goal, higherIsBetter } = result;
  return [
    name,
    readable(ours),
    readable(reference),
    referenceName,
    readable(ratio),
    spread.map(readable).join('–'),
    `${higherIsBetter ? '≥' : '≤'} ${goal}`,
    isMet(result) ? 'met' : 'missed',
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

function readLatest(file: string): Result[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Result[];
  } catch {
    return [];
  }
}

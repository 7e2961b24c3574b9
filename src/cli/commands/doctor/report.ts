import { Help } from 'commander';
import { printable } from '../output/printable.js';
import { colouredStatus, type Screen } from '../output/screen.js';
import type { Outcome } from './check.js';

const GAP = '  ';
const STATUS_WIDTH = 'warning'.length;
/** Narrower, wrapped text is hard to read. */
const LEAST_WIDTH = 40;

/** One line for each check without findings; the others are followed by findings and remedy. */
export function asReport(outcomes: readonly Outcome[], screen: Screen | undefined): string {
  const nameWidth = Math.max(...outcomes.map(({ name }) => name.length));
  const indent = ' '.repeat(STATUS_WIDTH + nameWidth + 2 * GAP.length);
  const width = Math.max(LEAST_WIDTH, (screen?.columns ?? Number.POSITIVE_INFINITY) - indent.length);
  const blocks = outcomes.map((outcome) => {
    const status = outcome.status.padEnd(STATUS_WIDTH);
    const head = `${screen?.hasColours ? colouredStatus(status) : status}${GAP}${outcome.name.padEnd(nameWidth)}${GAP}`;
    const text = new Help().boxWrap(linesOf(outcome).map(printable).join('\n'), width);
    return `${head}${text.replaceAll('\n', `\n${indent}`)}`;
  });
  return [...blocks, '', summaryOf(outcomes)].join('\n');
}

function linesOf({ status, about, examples, count, detail, remedy, reason }: Outcome): string[] {
  if (status === 'skipped') {
    return [`Not checked: ${reason}.`];
  }
  if (status === 'failed') {
    return [`Expected: ${about}`, `The check failed: ${reason}.`];
  }
  if (status === 'ok') {
    return [detail === undefined ? about : `${about} ${detail}`];
  }
  const more = count > examples.length ? [`… and ${count - examples.length} more`] : [];
  const limit = detail === undefined ? [] : [detail];
  return [
    `Expected: ${about}`,
    ...examples.map((each) => `- ${each}`),
    ...more,
    ...limit,
    `What to do: ${remedy}`,
  ];
}

function summaryOf(outcomes: readonly Outcome[]): string {
  const parts = (['ok', 'warning', 'error', 'failed', 'skipped'] as const).flatMap((status) => {
    const amount = outcomes.filter((outcome) => outcome.status === status).length;
    const isPlural = amount > 1 && (status === 'warning' || status === 'error');
    return amount > 0 ? [`${amount} ${status}${isPlural ? 's' : ''}`] : [];
  });
  return `${outcomes.length} checks: ${parts.join(', ')}.`;
}

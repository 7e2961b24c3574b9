import { printable } from './printable.js';
import { colouredStatus, relativeTime, screenOf } from './screen.js';

const GAP = '  ';

/** Narrower, a cell says nothing. */
const LEAST_WIDTH = 8;
/** Whole, or it cannot be copied. */
const ID = /^[a-z]{2,}_\w{16,}$/;
const STATUS_TITLES: ReadonlySet<string> = new Set(['status', 'outcome']);

/**
 * Columns as wide as their widest cell; cells may hold untrusted text. On a terminal: fits its width, with
 * relative times and colours.
 */
export function asColumns(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  screen = screenOf(),
): string {
  const cells = rows.map((row) =>
    row.map((cell) => printable(screen ? relativeTime(cell, screen.now) : cell)),
  );
  const natural = head.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const widths = screen ? fitting(natural, head, cells, screen.columns) : natural;
  const line = (row: readonly string[], isHead: boolean) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        const text = cell.length > width ? `${cell.slice(0, width - 1)}…` : cell;
        const isStatus = screen?.hasColours && !isHead && STATUS_TITLES.has(head[column] ?? '');
        const padding = column === row.length - 1 ? '' : ' '.repeat(width - text.length);
        return `${isStatus ? colouredStatus(text) : text}${padding}`;
      })
      .join(GAP)
      .trimEnd();
  const titles = head.map((title) => title.toUpperCase());
  return [line(titles, true), ...cells.map((row) => line(row, false))].join('\n');
}

/** Takes from the widest columns without ids what is too wide for the terminal, as far as they can be cut. */
function fitting(
  natural: readonly number[],
  head: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number,
): number[] {
  const widths = [...natural];
  const least = head.map((title, column) =>
    rows.some((row) => ID.test(row[column] ?? ''))
      ? (natural[column] ?? 0)
      : Math.max(title.length, LEAST_WIDTH),
  );
  const spare = (column: number) => (widths[column] ?? 0) - (least[column] ?? 0);
  const total = () => widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
  while (total() > columns) {
    const widest = head
      .map((_, column) => column)
      .filter((column) => spare(column) > 0)
      .sort((one, other) => (widths[other] ?? 0) - (widths[one] ?? 0))[0];
    if (widest === undefined) {
      break;
    }
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** Facts about one thing: a line for each value. Values may be untrusted text. */
export function asFacts(facts: readonly (readonly [string, string | readonly string[]])[]): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts
    .flatMap(([name, value]) => {
      const [first = '-', ...others] = (typeof value === 'string' ? [value] : value).map(printable);
      return [
        `${name.padEnd(width)}${GAP}${first}`,
        ...others.map((other) => `${' '.repeat(width)}${GAP}${other}`),
      ];
    })
    .join('\n');
}

/** To the second, in UTC. */
export function asTime(at: Date | undefined, otherwise = '-'): string {
  return at ? `${at.toISOString().slice(0, 19).replace('T', ' ')}Z` : otherwise;
}

/** `KEY_STATUS_ACTIVE` becomes `active`. */
export function asWord(value: string, prefix: string): string {
  return value.replace(prefix, '').toLowerCase().replaceAll('_', ' ');
}

/** The inverse. A constant of the generated code would load that code, which is larger than all commands. */
export function asEnum<E extends string>(word: string | undefined, prefix: string): E {
  return `${prefix}${(word ?? 'unspecified').toUpperCase().replaceAll('-', '_')}` as E;
}

import { printable } from './printable.js';
import { colouredStatus, relativeTime, screenOf } from './screen.js';

const GAP = '  ';
/** Of the further lines of a row. */
const INDENT = '  ';
/** No text is cut below this width, which is that of the longest relative times. */
const LEAST_WIDTH = 12;
/** Ids, web and e-mail addresses, and types of events: of use only whole. */
const WHOLE = /^(?:[a-z]{2,4}_\w+|[a-z]+:\/\/\S+|\S+@\S+|[a-z_]+(?:\.[a-z_*]+)+)$/;
/** Takes two places on a terminal: East Asian letters and signs, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\p{Emoji_Presentation}\u{20000}-\u{3fffd}]/u;
/** Takes none: what stands on the letter before it, and the joiner of emoji. */
const JOINED = /[\p{M}\u200d]/u;
const STATUS_TITLES: ReadonlySet<string> = new Set(['status', 'outcome']);

/** What a table shows of a row, by the heads of its columns. */
export type Columns<T> = Readonly<Record<string, (row: T) => string>>;

interface Column {
  title: string;
  cells: readonly string[];
  width: number;
}

/**
 * Columns as wide as their widest cell; cells may hold untrusted text. On a terminal: fits its width, with
 * relative times and colours.
 */
export function asColumns<T>(rows: readonly T[], cellsBy: Columns<T>, screen = screenOf()): string {
  const columns = Object.entries(cellsBy).map(([title, cellOf]) => {
    const cells = rows.map((row) => {
      const cell = cellOf(row);
      return printable(screen ? relativeTime(cell, screen.now) : cell);
    });
    return { title, cells, width: Math.max(title.length, ...cells.map(widthOf)) };
  });
  const lines = screen ? fitting(columns, screen.columns) : [columns];
  const rowOf = (cellOf: (column: Column) => string, hasColours = false) =>
    lines.map((line, number) => (number === 0 ? '' : INDENT) + asLine(line, cellOf, hasColours)).join('\n');
  return [
    rowOf(({ title }) => title.toUpperCase()),
    ...rows.map((_, row) => rowOf(({ cells }) => cells[row] ?? '', screen?.hasColours)),
  ].join('\n');
}

function asLine(columns: readonly Column[], cellOf: (column: Column) => string, hasColours: boolean): string {
  return columns
    .map((column, index) => {
      const { title, width } = column;
      const cell = cellOf(column);
      const text = widthOf(cell) > width ? `${cutTo(cell, width - 1)}…` : cell;
      const padding = index === columns.length - 1 ? '' : ' '.repeat(width - widthOf(text));
      return `${hasColours && STATUS_TITLES.has(title) ? colouredStatus(text) : text}${padding}`;
    })
    .join(GAP)
    .trimEnd();
}

/** The lines of a row: one, cut to fit, or as many as its columns need where cutting is not enough. */
function fitting(columns: readonly Column[], screenWidth: number): Column[][] {
  const least = columns.map((column) => ({ ...column, width: leastWidth(column) }));
  return lineWidth(least) > screenWidth ? onLines(columns, screenWidth) : [cut(columns, least, screenWidth)];
}

function leastWidth({ title, cells }: Column): number {
  const isWhole = (cell: string) => STATUS_TITLES.has(title) || WHOLE.test(cell);
  return Math.max(
    title.length,
    ...cells.map((cell) => (isWhole(cell) ? widthOf(cell) : Math.min(widthOf(cell), LEAST_WIDTH))),
  );
}

/** Takes what is too wide for the terminal from the widest columns that can be cut. */
function cut(columns: readonly Column[], least: readonly Column[], screenWidth: number): Column[] {
  const narrowed = columns.map((column) => ({ ...column }));
  while (lineWidth(narrowed) > screenWidth) {
    const cuttable = narrowed.filter(({ width }, index) => width > (least[index]?.width ?? 0));
    const widest = cuttable.reduce((one, other) => (other.width > one.width ? other : one));
    widest.width -= 1;
  }
  return narrowed;
}

/** Whole, and in their order. A column wider than the terminal has a line of its own. */
function onLines(columns: readonly Column[], screenWidth: number): Column[][] {
  const lines: Column[][] = [];
  for (const column of columns) {
    const last = lines.at(-1);
    const room = screenWidth - (lines.length > 1 ? INDENT.length : 0);
    if (last && lineWidth([...last, column]) <= room) {
      last.push(column);
    } else {
      lines.push([column]);
    }
  }
  return lines;
}

function lineWidth(columns: readonly Column[]): number {
  return columns.reduce((sum, { width }) => sum + width, GAP.length * (columns.length - 1));
}

/** In places of a terminal. */
function widthOf(text: string): number {
  return [...text].reduce((sum, character) => sum + placesOf(character), 0);
}

/** The longest beginning that fits, in whole characters. */
function cutTo(text: string, width: number): string {
  const characters = [...text];
  let room = width;
  const end = characters.findIndex((character) => {
    room -= placesOf(character);
    return room < 0;
  });
  return characters.slice(0, end === -1 ? undefined : end).join('');
}

function placesOf(character: string): number {
  if (JOINED.test(character)) {
    return 0;
  }
  return WIDE.test(character) ? 2 : 1;
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

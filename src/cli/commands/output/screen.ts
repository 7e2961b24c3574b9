/** What a table needs to know of a terminal. */
export interface Screen {
  columns: number;
  hasColours: boolean;
  now: number;
}

/** Undefined where the output goes to a file or a program, which get every character and exact times. */
export function screenOf(
  output: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'> = process.stdout,
  { NO_COLOR, TERM } = process.env,
): Screen | undefined {
  return output.isTTY
    ? // Some terminals do not know their width, or say 0.
      {
        columns: output.columns || Number.POSITIVE_INFINITY,
        hasColours: !NO_COLOR && TERM !== 'dumb',
        now: Date.now(),
      }
    : undefined;
}

const UNITS: readonly [unit: string, seconds: number][] = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
];
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/;
/** Beyond this the date tells more. */
const RELATIVE_SECONDS = 100 * 86_400;

/** A cell that is a time, as `3 min ago` or `in 2 d`; other cells as they are. */
export function relativeTime(cell: string, now: number): string {
  if (!TIME.test(cell)) {
    return cell;
  }
  const aheadSeconds = Math.round((Date.parse(cell.replace(' ', 'T')) - now) / 1_000);
  const seconds = Math.abs(aheadSeconds);
  const [unit, size] = UNITS.find(([, each]) => seconds >= each) ?? ['s', 1];
  if (seconds > RELATIVE_SECONDS) {
    return cell.slice(0, 'YYYY-MM-DD'.length);
  }
  const length = `${Math.floor(seconds / size)} ${unit}`;
  return aheadSeconds > 0 ? `in ${length}` : `${length} ago`;
}

/** Statuses by the code of their colour: green, yellow, red. */
const COLOURS: readonly (readonly [code: number, statuses: RegExp])[] = [
  [32, /^(?:active|configured|delivered|enabled|ok|signing|succeeded)(?: |$)/],
  [33, /^(?:held|invited|not configured|pending|waits|warning)(?: |$)/],
  [
    31,
    /^(?:cancelled|deleted|disabled|error|exhausted|expired|failed|inactive|offboarded|refused|revoked)(?: |$)/,
  ],
];

/** The text in the colour of the status that it begins with. */
export function colouredStatus(text: string): string {
  const [code] = COLOURS.find(([, statuses]) => statuses.test(text)) ?? [];
  return code === undefined ? text : `\x1b[${code}m${text}\x1b[0m`;
}

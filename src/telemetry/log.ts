import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { type DestinationStream, pino } from 'pino';
import type pretty from 'pino-pretty';
import { StandardOutput } from './standard-output.js';

export type LogFields = Record<string, unknown>;

/** A message is a constant sentence; fields carry what varies. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export interface LogOptions {
  role: string;
  /** Of the service: during an update, nodes of two versions log to one place. */
  version: string;
  level: string;
  format: 'json' | 'pretty';
  destination?: DestinationStream;
}

export function createLog({ role, version, level, format, destination }: LogOptions): Log {
  const options = {
    level,
    base: { role, host: hostname(), pid: process.pid, version },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: scrub },
  };
  const onDropped = (lines: number) => logger.warn({ lines }, 'lines of the log were dropped');
  const jsonStream = () => new StandardOutput(onDropped);
  const logger = pino(options, destination ?? (format === 'pretty' ? prettyStream() : jsonStream()));
  const at =
    (name: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}) =>
      logger[name](fields, message);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** pino-pretty is loaded only where it is used. */
function prettyStream() {
  const prettyLines = createRequire(import.meta.url)('pino-pretty') as typeof pretty;
  return prettyLines({
    sync: true,
    // Unlike the default of pino-pretty, never in a file. `isColorSupported` obeys NO_COLOR and TERM=dumb.
    colorize: process.stdout.isTTY && prettyLines.isColorSupported,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'role,host,pid,version',
    messageFormat: '{role}: {msg}',
    singleLine: true,
  });
}

/**
 * What stands before a word: the start, a character that is not of a word, or a control character as JSON
 * writes it (`\n`, `\u0001`). Patterns that may begin with any letter begin with it: tried at each letter of
 * a word, they would take quadratic time.
 */
const BEFORE_WORD = /^|\\(?:[nrtbf]|u[0-9a-f]{4})|[^\w\\-]/.source;

/**
 * Credentials of this service. The first group is kept. Each pattern begins with a character and looks
 * behind only from there: lookbehinds at each character took 6 % of the time of a busy edge.
 */
const CREDENTIALS = [
  /()(?:ik|cs)_(live|demo)_[0-9A-Za-z]{20,}/g,
  /()(?:operator|platform|support|auditor|key_custodian|service|edge|relay|maintenance)_(live|demo)_[0-9A-Za-z]{20,}/g,
  /()whsec_[0-9A-Za-z+/=]{16,}/g,
  new RegExp(`()eyJ(?<=(?:${BEFORE_WORD})eyJ)[\\w-]{8,}\\.[\\w-]{8,}\\.[\\w-]*`, 'g'),
  /( )(?<=(?:Bearer|Basic) )[\w+/=.~-]{8,}/gi,
  /(:)(?<=:\/\/[^\s:/@"]*:)[^\s@/"]+(?=@)/g,
  // Codes, cookies, mailed links, refresh tokens and keys have no prefix: base64url of 32 bytes and more.
  new RegExp(`(${BEFORE_WORD})(?=[\\w-]*[a-z])(?=[\\w-]*[A-Z])[\\w-]{43,}`, 'g'),
];

/** Removes credentials from a log line. This is the last safeguard: the code does not log them. */
export function scrub(line: string): string {
  return CREDENTIALS.reduce((text, pattern) => text.replace(pattern, '$1[secret]'), line);
}

const WINDOW_MS = 60_000;
const MS_PER_SECOND = 1_000;

/**
 * Warnings that strangers can cause, in few lines a minute. The next line counts those left out; if there is
 * none, the first of them is written when the minute is over.
 */
export function boundedWarnings(
  log: Pick<Log, 'warn'>,
  mostPerMinute: number,
  clock = () => performance.now(),
): Log['warn'] {
  let startedAt = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let leftOut = 0;
  let atEnd: NodeJS.Timeout | undefined;
  const begin = () => {
    startedAt = clock();
    lines = 0;
    clearTimeout(atEnd);
    atEnd = undefined;
  };
  const write: Log['warn'] = (message, fields) => {
    lines += 1;
    log.warn(message, { ...fields, leftOut });
    leftOut = 0;
  };
  return (message, fields) => {
    const now = clock();
    if (now - startedAt >= WINDOW_MS) {
      begin();
    }
    if (lines < mostPerMinute) {
      write(message, fields);
      return;
    }
    leftOut += 1;
    const writeLate = () => {
      begin();
      leftOut -= 1;
      write(message, { ...fields, secondsAgo: Math.round((clock() - now) / MS_PER_SECOND) });
    };
    atEnd ??= setTimeout(writeLate, startedAt + WINDOW_MS - now).unref();
  };
}

import { fstatSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { type DestinationStream, pino } from 'pino';
import type pretty from 'pino-pretty';
import { scrub } from './scrub.js';

const GATHERED_MS = 5;
const PIPE_BUF = 4_096;
/** Writes to a file do not interleave at any length; longer ones cost fewer system calls. */
const FILE_BYTES = 64 * 1_024;
const STANDARD_OUTPUT = 1;

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
  const logger = pino(options, destination ?? (format === 'pretty' ? prettyStream() : gatheredLines()));
  const at =
    (name: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}) =>
      logger[name](fields, message);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/**
 * Writes a line at once and gathers those of the next 5 ms: one write per line took a seventh of the time of
 * a busy edge. Roles share the output, and writes of up to PIPE_BUF bytes to a pipe do not interleave.
 */
function gatheredLines(): DestinationStream {
  const mostBytes = fstatSync(STANDARD_OUTPUT).isFile() ? FILE_BYTES : PIPE_BUF;
  const output = pino.destination({ dest: STANDARD_OUTPUT, maxWrite: mostBytes });
  let gathered: string[] | undefined;
  const pass = () => {
    const lines = gathered ?? [];
    gathered = undefined;
    for (const piece of piecesOf(lines, mostBytes)) {
      output.write(piece);
    }
  };
  // Runs before the exit listener of the output, which flushes what it was given.
  process.prependOnceListener('exit', pass);
  return {
    write: (line) => {
      if (gathered) {
        gathered.push(line);
      } else {
        gathered = [];
        setTimeout(pass, GATHERED_MS).unref();
        output.write(line);
      }
    },
  };
}

/**
 * Joins whole lines into pieces. Given single lines, the output would write the first one alone, and measure
 * all that it holds again at each further line.
 */
function* piecesOf(lines: readonly string[], mostBytes: number): Generator<string> {
  let piece = '';
  let bytes = 0;
  for (const line of lines) {
    const lineBytes = Buffer.byteLength(line);
    if (bytes > 0 && bytes + lineBytes > mostBytes) {
      yield piece;
      piece = '';
      bytes = 0;
    }
    piece += line;
    bytes += lineBytes;
  }
  if (bytes > 0) {
    yield piece;
  }
}

/** pino-pretty is loaded only where it is used. */
function prettyStream() {
  const prettyLines = createRequire(import.meta.url)('pino-pretty') as typeof pretty;
  return prettyLines({
    sync: true,
    colorize: process.stdout.isTTY,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'role,host,pid,version',
    messageFormat: '{role}: {msg}',
    singleLine: true,
  });
}

import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { type DestinationStream, pino } from 'pino';
import type pretty from 'pino-pretty';
import { scrub } from './scrub.js';
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
    colorize: process.stdout.isTTY,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'role,host,pid,version',
    messageFormat: '{role}: {msg}',
    singleLine: true,
  });
}

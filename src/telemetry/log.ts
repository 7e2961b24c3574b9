import { createRequire } from 'node:module';
import { type DestinationStream, pino } from 'pino';
import type pretty from 'pino-pretty';
import { scrub } from './scrub.js';

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
  level: string;
  format: 'json' | 'pretty';
  destination?: DestinationStream;
}

export function createLog({ role, level, format, destination }: LogOptions): Log {
  const options = {
    level,
    base: { role },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: scrub },
  };
  const logger = pino(options, destination ?? (format === 'pretty' ? prettyStream() : pino.destination(1)));
  const at =
    (name: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}) =>
      logger[name](fields, message);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Loaded only for output to people. */
function prettyStream() {
  const prettyLines = createRequire(import.meta.url)('pino-pretty') as typeof pretty;
  return prettyLines({
    sync: true,
    colorize: process.stdout.isTTY,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname,role',
    messageFormat: '{role}: {msg}',
    singleLine: true,
  });
}

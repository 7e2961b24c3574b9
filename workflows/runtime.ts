import type { Logger, LogMetadata } from '@temporalio/common';
import { Runtime } from '@temporalio/worker';
import type { Log, LogFields } from './log.js';

let installed: { log: Log } | undefined;

/**
 * Once per process, before the first connection: what the SDK and its native core have to say goes through `log`,
 * nothing to the console, and signals stay with whoever runs the process. A second call only changes the log.
 */
export function installRuntime(log: Log): void {
  if (installed) {
    installed.log = log;
    return;
  }
  installed = { log };
  Runtime.install({
    logger: sdkLogger(installed),
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
    shutdownSignals: [],
  });
}

/** Without it the native runtime would keep a process alive in which no connection was ever made. */
export async function closeRuntime(): Promise<void> {
  await Runtime._instance?.shutdown();
}

function sdkLogger(target: { log: Log }): Logger {
  const line = (level: keyof Log) => (message: string, meta?: LogMetadata) =>
    target.log[isRetry(meta) ? 'debug' : level](message, toFields(meta));
  const levels = { TRACE: 'debug', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;
  return {
    log: (level, message, meta) => line(levels[level])(message, meta),
    trace: line('debug'),
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
  };
}

/** In an outage each poller warns of each retry; the worker itself reports the outage, once. */
function isRetry(meta: LogMetadata = {}): boolean {
  return meta.target === 'temporalio_client::retry';
}

/** JSON writers throw on bigint, and the SDK's symbol keys are its own business. */
function toFields(meta: LogMetadata = {}): LogFields {
  const fields: LogFields = { component: 'temporal' };
  for (const [key, value] of Object.entries(meta)) {
    if (value !== undefined) fields[key] = typeof value === 'bigint' ? value.toString() : value;
  }
  return fields;
}

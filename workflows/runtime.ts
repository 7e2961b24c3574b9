import type { Logger, LogMetadata } from '@temporalio/common';
import { Runtime } from '@temporalio/worker';
import type { Log, LogFields } from './log.js';

let installed: { log: Log } | undefined;

/**
 * Once per process, before the first connection: routes the output of the SDK and its native core to `log`,
 * and leaves signals to the process. A second call only changes the log.
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

/** Otherwise the native runtime keeps a process alive that never connected. */
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

/** In an outage each poller warns on each retry; the worker reports the outage once. */
function isRetry(meta: LogMetadata = {}): boolean {
  return meta.target === 'temporalio_client::retry';
}

/** JSON cannot encode bigint, and symbol keys are internal to the SDK. */
function toFields(meta: LogMetadata = {}): LogFields {
  const fields: LogFields = { component: 'temporal' };
  for (const [key, value] of Object.entries(meta)) {
    if (value !== undefined) {
      fields[key] = typeof value === 'bigint' ? value.toString() : value;
    }
  }
  return fields;
}

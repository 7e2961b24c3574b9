import type { LogMetadata } from '@temporalio/common';
import { DefaultLogger, Runtime } from '@temporalio/worker';
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
  const target = { log };
  installed = target;
  Runtime.install({
    logger: new DefaultLogger('TRACE', ({ level, message, meta }) =>
      target.log[isRetry(meta) ? 'debug' : LEVELS[level]](message, toFields(meta)),
    ),
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
    shutdownSignals: [],
  });
}

/** Otherwise the native runtime keeps a process alive that never connected. */
export async function closeRuntime(): Promise<void> {
  await Runtime._instance?.shutdown();
}

const LEVELS = { TRACE: 'debug', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

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

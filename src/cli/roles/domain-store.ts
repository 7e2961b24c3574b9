import { backoffDelayMs, pause } from '../../../workflows/backoff.js';
import type { Config } from '../../config/config.js';
import type { UnitOfWork } from '../../domain/unit-of-work.js';
import {
  type NotificationListener,
  openStore,
  type Silence,
  type Store,
  type StoreOptions,
} from '../../store/store.js';
import { StoreError } from '../../store/store-error.js';
import type { Check, CheckResult } from '../../telemetry/health.js';
import { boundedWarnings, type Log } from '../../telemetry/log.js';
import { storeMetrics } from '../../telemetry/metrics.js';
import { currentTraceparent, inSpanOfTrace } from '../../telemetry/tracing.js';
import { issuerClaimOf } from '../from-config.js';
import { EndedEarly, type RoleOptions } from './role.js';

const BETWEEN_TRIES = { firstDelayMs: 250, maxDelayMs: 10_000 };
const INVALID_EVENTS_PER_MINUTE = 10;
export const ABSENCES_PER_MINUTE = 6;
const SILENCES_PER_MINUTE = 2;

const SILENCE: Record<Silence, string> = {
  lost: 'notifications of other nodes cannot be received for now; this node polls',
  unheard:
    'notifications of other nodes do not arrive; this node polls. If DATABASE_URL leads to a pooler in transaction mode, set DATABASE_DIRECT_URL to the server itself',
};

/** Opens the store of the domain, which logs what it notices. */
export async function openDomainStore(
  { config, log, metrics, ending }: RoleOptions,
  onDiskFailure: StoreOptions['onDiskFailure'],
): Promise<Store> {
  const warnOfInvalidEvents = boundedWarnings(log, INVALID_EVENTS_PER_MINUTE);
  const storeOptions: StoreOptions = {
    environment: config.ENVIRONMENT,
    existing: true,
    issuer: issuerClaimOf(config),
    dataDir: config.DATA_DIR,
    databaseUrl: config.DATABASE_URL?.reveal(),
    onIdleError: (error) => log.warn('a database connection broke', { reason: error.message }),
    checkpoints: {
      onThreadDeath: (cause) =>
        log.error('the thread that checkpoints the database ended or cannot start', {
          reason: cause.message,
        }),
    },
    onDiskFailure,
    writes: {
      onRefused: (reason) => log.error('writes are refused', { reason }),
      onTaken: (refused) => log.info('writes are taken again', { refused }),
    },
    // Live sends an invalid event unchanged: receivers can still read the members that they know.
    ...(config.ENVIRONMENT === 'live' && {
      onInvalidEvent: (type, fault) => warnOfInvalidEvents('an event violates its contract', { type, fault }),
    }),
    alone: true,
    onLogKept: (isKept) =>
      isKept
        ? log.warn(
            'another program, such as Litestream, reads the write-ahead log of the database, so it cannot be begun anew yet; until then, a power failure can undo writes or damage the database if a sync failed before this start',
          )
        : log.info('the write-ahead log was begun anew'),
    watch: storeMetrics(metrics),
    onClocksApart: (apartMs) =>
      apartMs === undefined
        ? log.info('the clocks of this machine and of PostgreSQL agree again')
        : log.warn('the clock of this machine differs from that of PostgreSQL, which the domain uses', {
            apartMs,
          }),
    onLookFailed: (error) =>
      log.warn('a search for all due webhook deliveries failed; retries and older deliveries may wait', {
        reason: (error as Error).message,
      }),
    notifications: notificationListener(config, log),
    replica: replicaOf(config, log),
  };
  const store = await openPatiently(storeOptions, log, ending);
  const shared = await store.sharedMailboxes();
  if (shared.length > 0) {
    log.warn('accounts share their mailbox with another account; give each an address of its own', {
      shared,
    });
  }
  return store;
}

/** Retries while the database is down, busy or being migrated; not on a wrong password. */
async function openPatiently(options: StoreOptions, log: Log, ending: AbortSignal): Promise<Store> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await openStore(options);
    } catch (error) {
      if (!(error instanceof StoreError && error.mayPass)) {
        throw error;
      }
      const waitMs = Math.round(backoffDelayMs(failures, BETWEEN_TRIES));
      log.warn('the database cannot be used yet', { reason: error.message, failures, nextTryInMs: waitMs });
      await pause(waitMs, ending);
    }
    if (ending.aborted) {
      throw new EndedEarly();
    }
  }
}

function replicaOf({ DATABASE_REPLICA_URL }: Config, log: Log): StoreOptions['replica'] {
  const warn = boundedWarnings(log, ABSENCES_PER_MINUTE);
  return (
    DATABASE_REPLICA_URL && {
      url: DATABASE_REPLICA_URL.reveal(),
      onAway: (reason) => warn('the replica is not read for now; the primary is', { reason }),
      onBack: () => log.info('the replica is read again'),
    }
  );
}

/** How nodes hear of the due deliveries of others. */
function notificationListener(config: Config, log: Log): NotificationListener {
  const warn = boundedWarnings(log, SILENCES_PER_MINUTE);
  let isSilent = false;
  return {
    directUrl: config.DATABASE_DIRECT_URL?.reveal(),
    onListening: () => {
      if (isSilent) {
        log.info('notifications of other nodes are received again');
      }
      isSilent = false;
    },
    onSilence: (kind, reason) => {
      isSilent = true;
      warn(SILENCE[kind], { reason });
    },
  };
}

/** The unit of work with a span for each write, from its turn in the queue to the sync of its commit. */
export function traced<Changes, Rows>(unitOfWork: UnitOfWork<Changes, Rows>): UnitOfWork<Changes, Rows> {
  return {
    ...unitOfWork,
    run: (work, options) =>
      inSpanOfTrace('write', { kind: 'internal' }, () =>
        unitOfWork.run(work, { ...options, traceparent: currentTraceparent() }),
      ),
  };
}

/**
 * How long a result is cached: a check writes, and any client may request checks at any rate. A write that is
 * refused meanwhile counts at once.
 */
const RESULT_COUNTS_MS = 1_000;

/** Checks whether the domain can read and write, and whether it knows the schema. */
export function storeChecks(store: Pick<Store, 'ping' | 'assertWritesTaken' | 'schemaDrift'>): Check[] {
  const drift = shared(() => store.schemaDrift());
  const pinged = shared(() => store.ping());
  return [
    {
      name: 'database',
      required: true,
      probe: async () => {
        await pinged();
        store.assertWritesTaken();
        return { ok: true };
      },
    },
    {
      name: 'schema',
      required: true,
      probe: async () => {
        const { missing, required } = await drift();
        return missing.length > 0
          ? without(missing, 'The database lacks migrations of this version')
          : without(required, 'The database needs a newer version; update this node');
      },
    },
    {
      // Nodes are updated one by one, so nodes of the earlier version continue to serve.
      name: 'version',
      required: false,
      probe: async () =>
        without((await drift()).newer, 'A newer version has migrated the database; update this node'),
    },
  ];
}

function without(names: readonly string[], sentence: string): CheckResult {
  return names.length === 0 ? { ok: true } : { ok: false, detail: `${sentence}: ${names.join(', ')}.` };
}

/** Shares one run among concurrent callers, and caches its result for a short time. */
function shared<T>(run: () => Promise<T>): () => Promise<T> {
  let latest: Promise<T> | undefined;
  let settledAt: number | undefined;
  return () => {
    if (!latest || (settledAt !== undefined && performance.now() - settledAt > RESULT_COUNTS_MS)) {
      settledAt = undefined;
      latest = run().finally(() => {
        settledAt = performance.now();
      });
    }
    return latest;
  };
}

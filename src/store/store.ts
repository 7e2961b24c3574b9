import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { AuditMac } from '../domain/operator/audit-chain.js';
import { DueSignal, type NewlyDue } from '../domain/webhooks/sending/due-signal.js';
import { makeFolder } from '../files/folders.js';
import { removeLeft } from '../files/staged.js';
import { serviceTokenStore, visitStore } from './adapters/access.js';
import { callCounts } from './adapters/call-counts.js';
import { changeStore } from './adapters/changes.js';
import { demoStore } from './adapters/demo/store.js';
import { expiryStore } from './adapters/expiry.js';
import { instanceIntegrationStore } from './adapters/instance-integrations.js';
import { beginLifeAfterUnclosedFile, continuePositions } from './adapters/lives.js';
import { withAuditChains } from './adapters/operator/audit-chains.js';
import { auditWriter } from './adapters/operator/audit-events.js';
import type { OnSpoiled } from './adapters/operator/audit-purge.js';
import { operatorUnitOfWork } from './adapters/operator/unit-of-work.js';
import { sharedMailboxes } from './adapters/platform/accounts.js';
import { copyForgetting } from './adapters/platform/erasure.js';
import { platformUnitOfWork } from './adapters/platform/unit-of-work.js';
import { purgeStore } from './adapters/purge.js';
import { sealStore } from './adapters/seals.js';
import { signOnUnitOfWork } from './adapters/sign-on/unit-of-work.js';
import type { DueListener } from './adapters/unit-of-work.js';
import type { OnInvalidEvent } from './adapters/webhooks/event-recorder.js';
import { sendingUnitOfWork } from './adapters/webhooks/sending/unit-of-work.js';
import {
  DATABASE_FILE,
  isUnclosed,
  RESTORE_STAGE,
  refuseHalfFilled,
  sqliteFileIn,
  TO_BEGIN,
} from './data-directory.js';
import type { Database } from './database.js';
import type { OnClocksApart } from './dialects/postgres/clock.js';
import {
  DueNotifications,
  type NotificationLimits,
  type NotificationOptions,
  type Silence,
} from './dialects/postgres/notifications.js';
import { openPostgres, type PostgresLimits } from './dialects/postgres/postgres.js';
import { closeKeepingLog, openSqlite, type SqliteOptions } from './dialects/sqlite.js';
import { UnclosedLog } from './dialects/unclosed-log.js';
import { claimDirectory } from './file-lock.js';
import { claimIssuer, type IssuerClaim, refuseOther } from './issuer.js';
import { migrateToLatest, refuseIncomplete, schemaDrift } from './migrate.js';
import { refuseMoved } from './moves/moved-file.js';
import { recordedIn } from './recorded.js';
import { directoryStores, NearestStores, type ReplicaOptions } from './replica/nearest.js';
import { damageIn, databaseReasonOf, mayPass, StoreError } from './store-error.js';
import { type RefusalListener, WriteRefusals } from './write-refusals.js';

export type { Silence };

export interface StoreOptions extends SqliteOptions {
  environment: 'live' | 'demo';
  /** In live, refuses a database without an environment: only `integration init` makes one. */
  existing?: boolean;
  /** Recorded, and refused if the database has another one. Commands that issue no tokens have none. */
  issuer?: IssuerClaim;
  /** The directory of the SQLite file; made if missing, readable by its owner only. */
  dataDir: string;
  /** Claims the directory for this process, and refuses one that is claimed. SQLite only. */
  alone?: boolean;
  /** Another program reads the log of a SQLite file that was not closed, or (false) does so no more. */
  onLogKept?: (isKept: boolean) => void;
  /** PostgreSQL instead. */
  databaseUrl?: string;
  /** Of PostgreSQL. */
  limits?: PostgresLimits;
  onIdleError?: (error: Error) => void;
  writes?: RefusalListener;
  /** Without it, the write of an event that violates the contract fails. */
  onInvalidEvent?: OnInvalidEvent;
  onClocksApart?: OnClocksApart;
  /** The search for all due webhook deliveries failed: retries and older deliveries may wait. */
  onLookFailed?: (error: unknown) => void;
  /** Exchanges notifications of due deliveries with other nodes. PostgreSQL only. */
  notifications?: NotificationListener;
  /** A streaming replica of the PostgreSQL of `databaseUrl`, for reads of the gateway. */
  replica?: ReplicaOptions | undefined;
}

export interface NotificationListener extends Pick<NotificationOptions, 'onListening' | 'onSilence'> {
  /** For a `databaseUrl` that leads to a pooler in transaction mode, which passes on no notifications. */
  directUrl?: string;
  limits?: NotificationLimits;
}

interface AuditChainsListener {
  /** The newest record of the chain is not stored: it was purged or removed. */
  onBroken(chain: string): void;
  /** A purge stops at this record of the chain, because it was changed. */
  onSpoiled: OnSpoiled;
}

export type Store = Awaited<ReturnType<typeof openStore>>;

/** Every port of the domain over one database. */
export async function openStore(options: StoreOptions) {
  const { dataDir, watch } = options;
  const file = join(dataDir, DATABASE_FILE);
  const wasUnclosed = options.databaseUrl === undefined && options.alone === true && isUnclosed(dataDir);
  const unclosedLog = wasUnclosed ? new UnclosedLog(file, options.onLogKept) : undefined;
  const refusals = new WriteRefusals(options.writes, watch);
  let audit: { mac: AuditMac; listener: AuditChainsListener } | undefined;
  const database = withAuditChains(
    refusals.watched(await connect(options)),
    () => audit?.mac,
    (chain) => audit?.listener.onBroken(chain),
    watch?.recorded,
  );
  try {
    await prepare(database, options, unclosedLog);
  } catch (error) {
    await (unclosedLog ? closeKeepingLog(file, database.close) : database.close());
    throw error instanceof StoreError ? error : asRefusal(error);
  }
  let notifications: DueNotifications | undefined;
  const deliveriesDue = new DueSignal((due) => notifications?.tell(due));
  notifications = notificationsFor(database, deliveriesDue, options);
  const due: DueListener = {
    behindCommit: (newly) => (deliveriesDue.isAwaited ? undefined : notifications?.behindCommit(newly)),
    onDue: (newly, areNodesNotified) => deliveriesDue.wake(newly, areNodesNotified),
  };
  const { onInvalidEvent } = options;
  const directory = directoryStores(database);
  const replica =
    options.replica && new NearestStores(directory, database.reader, { watch, ...options.replica });
  return {
    clock: database.clock,
    /** Whether a read blocks the event loop, as on SQLite. */
    readsBlock: options.databaseUrl === undefined,
    visits: visitStore(database),
    serviceTokens: serviceTokenStore(database),
    /** Undefined for SQLite, where the only node counts in memory. */
    callCounts: callCounts(database),
    instanceIntegrations: instanceIntegrationStore(database),
    ...directory,
    /** Undefined without a replica. */
    nearest: replica?.of,
    changes: changeStore(database),
    purge: purgeStore(database, (...place) => audit?.listener.onSpoiled(...place)),
    expiry: expiryStore(database),
    platform: platformUnitOfWork(database, due, onInvalidEvent),
    forgetCopies: copyForgetting(database),
    operator: operatorUnitOfWork(database, due),
    observations: auditWriter(database),
    seals: sealStore(database),
    signOn: signOnUnitOfWork(database, due, onInvalidEvent),
    sending: sendingUnitOfWork(database, options.onLookFailed),
    /** Woken by every write here that makes deliveries due. */
    deliveriesDue,
    demo: demoStore(database),
    /** Accounts that share a mailbox with another, up to a limit. */
    sharedMailboxes: () => sharedMailboxes(database),
    /** Throws the reason unless the database answers and a trial write succeeds. */
    ping: async () => {
      try {
        await database.prober.selectFrom('environment').select('name').executeTakeFirstOrThrow();
        await database.tryWrite();
      } catch (error) {
        throw new Error(databaseReasonOf(error), { cause: error });
      }
    },
    /** Throws if a write was refused lately. Call it after a successful trial write. */
    assertWritesTaken: () => refusals.assertNone(),
    schemaDrift: () => schemaDrift(database.prober),
    /** Records the issuer of this start. After `startAuditChains`, because a replacement leaves a record. */
    claimIssuer: async () => {
      if (options.issuer) {
        await claimIssuer(database, options.issuer);
      }
    },
    /** From now on audit records form chains, with a key sealed in the database. */
    startAuditChains: (mac: AuditMac, listener: AuditChainsListener) => {
      audit = { mac, listener };
    },
    /** Undefined for PostgreSQL. */
    size: () => database.size(),
    close: async () => {
      await notifications?.close();
      await replica?.close();
      unclosedLog?.end();
      await database.close();
    },
  };
}

function notificationsFor(
  { prober }: Database,
  deliveriesDue: DueSignal,
  { databaseUrl, notifications, watch }: StoreOptions,
): DueNotifications | undefined {
  if (databaseUrl === undefined || notifications === undefined) {
    return undefined;
  }
  const note = (isListening: boolean) => {
    watch?.listens(isListening);
    deliveriesDue.setNotified(isListening);
  };
  note(false);
  const listener = {
    connectionString: notifications.directUrl ?? databaseUrl,
    notifyBy: (channel: string, payload: string) =>
      sql`select pg_notify(${channel}, ${payload})`.execute(prober),
    onDue: (due: NewlyDue) => {
      watch?.notified();
      deliveriesDue.wakeByOther(due);
    },
    onListening: () => {
      note(true);
      notifications.onListening();
    },
    onSilence: (kind: Silence, reason: string) => {
      note(false);
      notifications.onSilence(kind, reason);
    },
  };
  return new DueNotifications(listener, notifications.limits);
}

async function connect(options: StoreOptions): Promise<Database> {
  const { dataDir, databaseUrl, alone = false, existing, environment } = options;
  if (databaseUrl !== undefined) {
    const { onIdleError = () => undefined, limits, watch, onClocksApart } = options;
    return openPostgres(databaseUrl, onIdleError, limits, watch, onClocksApart);
  }
  if (existing && environment === 'live') {
    sqliteFileIn(dataDir);
  }
  try {
    makeFolder(dataDir);
  } catch (error) {
    const message = `The data directory ${dataDir} cannot be written: ${(error as Error).message}.`;
    throw new StoreError(message, { cause: error, mayPass: mayPass(error) });
  }
  const claim = alone ? claimDirectory(dataDir) : undefined;
  try {
    refuseHalfFilled(dataDir);
    refuseMoved(dataDir);
    if (claim) {
      removeLeftover(join(dataDir, RESTORE_STAGE));
      removeLeft('files', dataDir);
    }
    const database = openSqlite(join(dataDir, DATABASE_FILE), options);
    return { ...database, close: () => database.close().finally(() => claim?.release()) };
  } catch (error) {
    claim?.release();
    throw error;
  }
}

/**
 * Removes the folder of a restore that was killed after it had given the database file its final name. No
 * restore is running, because it would hold the claim. If the removal fails, for example because another user
 * ran the restore, the service starts nevertheless.
 */
function removeLeftover(stage: string): void {
  try {
    rmSync(stage, { recursive: true, force: true });
  } catch {
    // The folder contains at most a hard link to the database file.
  }
}

/** Brings the database into the state that the service needs, or throws the reason to refuse it. */
async function prepare(
  database: Database,
  options: StoreOptions,
  unclosedLog: UnclosedLog | undefined,
): Promise<void> {
  await refuseForeign(database, options);
  await migrateToLatest(database.patient);
  // Checked again: since the first check, an incomplete restore may have filled the database.
  await refuseIncomplete(database.patient);
  await claimEnvironment(database, options.environment);
  if (options.databaseUrl !== undefined) {
    await database.write(continuePositions);
  }
  if (unclosedLog) {
    // A checkpoint that fails is repeated by the next start, and has begun no life yet.
    await unclosedLog.replace(() => database.write(beginLifeAfterUnclosedFile), database.tryWrite);
  }
}

/** What the database refuses, as a sentence, for now or for good. */
function asRefusal(error: unknown): unknown {
  const damage = damageIn(error);
  if (damage !== undefined) {
    return new StoreError(damage, { cause: error });
  }
  return mayPass(error)
    ? new StoreError(`The database cannot be used at the moment: ${databaseReasonOf(error)}.`, {
        cause: error,
        mayPass: true,
      })
    : error;
}

/** Runs before any migration: a database of the other environment or of another issuer stays unchanged. */
async function refuseForeign({ patient }: Database, options: StoreOptions): Promise<void> {
  const { environment, existing, issuer } = options;
  const recorded = await recordedIn(patient);
  if (existing || recorded.environment !== undefined) {
    refuseOtherEnvironment(recorded.environment, environment);
  }
  if (issuer) {
    refuseOther(recorded.issuer, issuer);
  }
}

/**
 * Throws unless the settings are of the environment that the database belongs to. A demo may begin in an
 * empty database; in one, live would answer that every key is unknown, as if all had been revoked.
 */
export function refuseOtherEnvironment(
  owner: 'live' | 'demo' | undefined,
  environment: 'live' | 'demo',
): void {
  if (owner === undefined && environment === 'live') {
    throw new StoreError(
      `The database belongs to no environment: it is empty, or of another program. Set DATABASE_URL or DATA_DIR to the database of the service. ${TO_BEGIN}`,
    );
  }
  if (owner !== undefined && owner !== environment) {
    throw new StoreError(
      `The database belongs to the ${owner} environment, and ENVIRONMENT is ${environment}.`,
    );
  }
}

/** A database belongs to the environment that first used it, so that live and demo never mix. */
async function claimEnvironment(database: Database, environment: 'live' | 'demo'): Promise<void> {
  const owner = await database.write(async (writer) => {
    await writer
      .insertInto('environment')
      .values({ only_row: 1, name: environment, created_at: database.clock() })
      .onConflict((conflict) => conflict.column('only_row').doNothing())
      .execute();
    return (await writer.selectFrom('environment').select('name').executeTakeFirstOrThrow()).name;
  });
  refuseOtherEnvironment(owner, environment);
}

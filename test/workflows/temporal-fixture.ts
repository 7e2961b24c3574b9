import { mkdtempSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { Client, Connection } from '@temporalio/client';
import {
  type Activities,
  type ActivityDependencies,
  createActivities,
} from '../../workflows/activities/index.js';
import type { Maintenance } from '../../workflows/activities/maintenance.js';
import { bundleDefinitions } from '../../workflows/bundle.js';
import {
  type CodeCounts,
  type CodeExpiryInput,
  type PurgeBatch,
  type PurgeInput,
  type SigningKeyRotationOutcome,
  scheduleIds,
  searchAttributes,
  type WebhookRetryLimits,
  webhookRetryLimits,
} from '../../workflows/contract.js';
import { type DevServer, type DevServerOptions, startDevServer } from '../../workflows/dev-server/start.js';
import type { Log, LogFields } from '../../workflows/log.js';
import type { WorkerOptions } from '../../workflows/worker.js';
import { eventually } from '../support/eventually.js';
import { freePorts } from '../support/free-ports.js';
import { onceARun } from '../support/once-a-run.js';
import { RetryDomain } from './retry-domain.js';

export { eventually };

export const NAMESPACE = 'integration-test';

/** Quick, so that a failing domain is seen failing and recovering within a test. */
export const quickPurge: PurgeInput = {
  batchLimit: 10,
  batchesPerRun: 100,
  pauseMs: 0,
  batchTimeoutMs: 60_000,
  retryFirstDelayMs: 50,
  retryMaxDelayMs: 200,
  giveUpAfterAttempts: 50,
};

export const quickCodeExpiry: CodeExpiryInput = {
  minute: '2026-07-01T10:00Z',
  waitMs: 0,
  stepTimeoutMs: 60_000,
  leastWaitMs: 50,
  giveUpAfterRounds: 3,
  retryFirstDelayMs: 50,
  retryMaxDelayMs: 200,
  giveUpAfterAttempts: 50,
};

export const quickWebhookRetry: WebhookRetryLimits = {
  ...webhookRetryLimits,
  stepTimeoutMs: 60_000,
  gatherLeastMs: 20,
  leastWaitMs: 50,
  mostWaitMs: 500,
  putOffMs: 50,
  retryFirstDelayMs: 50,
  retryMaxDelayMs: 200,
};

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port as number;
}

const MOST_STARTS = 3;

/** Killed when it is stopped: its own end takes it a second. */
export async function startServer(
  executable: string,
  options: Partial<DevServerOptions> = {},
): Promise<DevServer> {
  for (let starts = 1; ; starts += 1) {
    const address = `127.0.0.1:${await freePort()}`;
    const own = { executable, address, namespace: NAMESPACE, searchAttributes, log: silentLog };
    try {
      return await startDevServer({ ...own, stopLimitMs: 0, ...options });
    } catch (error) {
      // The server chooses more ports itself; another process may take one before the server listens on it.
      const hasEnded = String(error).includes('Temporal ended while it started');
      if (!hasEnded || starts === MOST_STARTS) {
        throw error;
      }
    }
  }
}

/** A server that suggests a new run after few events. */
export function impatient(executable: string): string {
  const script = path.join(
    mkdtempSync(path.join(process.env.TEST_RUN_FOLDER ?? tmpdir(), 'impatient-')),
    'temporal',
  );
  const suggested = 'limit.historyCount.suggestContinueAsNew=40';
  writeFileSync(script, `#!/bin/sh\nexec '${executable}' "$@" --dynamic-config-value ${suggested}\n`, {
    mode: 0o700,
  });
  return script;
}

/** A Temporal that answers, and whose polls this account may not call. */
export async function startWithoutPolls(port = 0): Promise<{ server: Server; address: string }> {
  const same = (bytes: Buffer) => bytes;
  const method = (name: string) => ({
    path: `/temporal.api.workflowservice.v1.WorkflowService/${name}`,
    ...({ requestStream: false, requestSerialize: same, requestDeserialize: same } as const),
    ...({ responseStream: false, responseSerialize: same, responseDeserialize: same } as const),
  });
  const server = new Server();
  server.addService(
    { describe: method('DescribeNamespace'), poll: method('PollWorkflowTaskQueue') },
    {
      describe: (_: unknown, answer: (error: null, bytes: Buffer) => void) => answer(null, Buffer.alloc(0)),
      poll: (_: unknown, answer: (error: object) => void) =>
        answer({ code: status.PERMISSION_DENIED, details: 'Request unauthorized.' }),
    },
  );
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, its) =>
      error ? reject(error) : resolve(its),
    ),
  );
  return { server, address: `127.0.0.1:${bound}` };
}

export async function connectClient(address: string): Promise<Client> {
  return new Client({ connection: await Connection.connect({ address }), namespace: NAMESPACE });
}

export async function purgeIntervalOf({ schedule }: Client): Promise<number | undefined> {
  const { spec } = await schedule.getHandle(scheduleIds.purge).describe();
  return spec.intervals?.[0]?.every;
}

/** As on a new server. */
export async function removeSchedules({ schedule }: Client): Promise<void> {
  for (const id of Object.values(scheduleIds)) {
    await schedule
      .getHandle(id)
      .delete()
      .catch(() => undefined);
  }
}

/** Waits until a worker has begun and ended a probe. Each probe makes the last schedule if it is missing. */
export async function untilProbed({ schedule }: Client): Promise<void> {
  const last = schedule.getHandle(scheduleIds.signingKeyRotation);
  for (const probe of ['the probe under way', 'the next probe']) {
    await last.delete().catch(() => undefined);
    await eventually(probe, () => last.describe().catch(() => undefined));
  }
}

/** Bundles the TypeScript definitions into a file, as the build does: once per run, since it is slow. */
export async function writeBundle(): Promise<string> {
  const name = 'definitions.bundle.js';
  const folder = await onceARun('definitions', async (made) => {
    const definitions = fileURLToPath(new URL('../../workflows/definitions/index.ts', import.meta.url));
    await writeFile(path.join(made, name), await bundleDefinitions(definitions));
  });
  return path.join(folder, name);
}

type Answer<T> = T | Error | ((signal: AbortSignal) => Promise<T>);

/** The next of a list of answers, each time. */
function script<T>(answers: Answer<T>[]) {
  return async (signal: AbortSignal): Promise<T> => {
    const answer = answers.shift();
    if (answer === undefined) {
      throw new Error('the script of answers is over');
    }
    if (answer instanceof Error) {
      throw answer;
    }
    return typeof answer === 'function' ? (answer as (signal: AbortSignal) => Promise<T>)(signal) : answer;
  };
}

export interface Scripts {
  purge?: Answer<PurgeBatch>[];
  expiry?: Answer<CodeCounts & { retryInMs: number | null }>[];
  rotation?: Answer<SigningKeyRotationOutcome>[];
}

/** A domain that answers each call with the next of its list and remembers who asked. */
export function scriptedMaintenance({ purge = [], expiry = [], rotation = [] }: Scripts) {
  const calls: { requestId: string; limit?: number; minute?: Date }[] = [];
  const [nextPurge, nextExpiry, nextRotation] = [script(purge), script(expiry), script(rotation)];
  const maintenance: Maintenance = {
    async purgeExpired({ limit }, { requestId, signal }) {
      calls.push({ requestId, limit });
      return { ...(await nextPurge(signal)), otherRunActive: false };
    },
    expireAuthorizationCodes({ minute }, { requestId, signal }) {
      calls.push({ requestId, minute });
      return nextExpiry(signal);
    },
    advanceSigningKeys({ requestId, signal }) {
      calls.push({ requestId });
      return nextRotation(signal);
    },
  };
  return { maintenance, calls };
}

/** What a test leaves out is there and has nothing to do. */
export function wholeDomain({
  maintenance = scriptedMaintenance({}).maintenance,
  webhookRetries = new RetryDomain().domain,
}: Partial<ActivityDependencies>): ActivityDependencies {
  return { maintenance, webhookRetries };
}

export function activitiesOf(domain: Partial<ActivityDependencies>): Activities {
  return createActivities(wholeDomain(domain));
}

/** Hourly schedules, for example, would also run by themselves when a test meets the end of an hour. */
export const FAR_AWAY_MS = 300 * 24 * 3_600_000;
export const farAway = {
  purgeIntervalMs: FAR_AWAY_MS,
  signingKeyRotationIntervalMs: FAR_AWAY_MS,
  startAtOnce: false,
};

/** What a worker does with schedules that do not run during a test, and nothing beside it. */
export function workOf(domain: Partial<ActivityDependencies>): WorkerOptions['work'] {
  return async () => ({ activities: activitiesOf(domain), schedules: farAway, companions: [] });
}

const nothing = () => undefined;
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

export interface LoggedLine {
  level: keyof Log;
  message: string;
  fields: LogFields;
}

export function recordingLog() {
  const lines: LoggedLine[] = [];
  const record =
    (level: keyof Log) =>
    (message: string, fields: LogFields = {}) => {
      lines.push({ level, message, fields });
    };
  const log: Log = {
    debug: record('debug'),
    info: record('info'),
    warn: record('warn'),
    error: record('error'),
  };
  return { log, lines };
}

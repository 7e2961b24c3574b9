import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import pg from 'pg';
import { createUser } from '../../../src/domain/platform/people/users.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { platformUnitOfWork } from '../../../src/store/adapters/platform/unit-of-work.js';
import type { Database } from '../../../src/store/database.js';
import { openPostgres, type PostgresLimits } from '../../../src/store/dialects/postgres/postgres.js';
import { type DatabaseUnderTest, PATIENT } from '../../support/databases.js';
import type { stallingProxy } from '../../support/stalling-proxy.js';
import { plantSubscription } from '../adapters/webhooks/sending/rig.js';
import { newConnection } from '../adapters/webhooks/subscriptions/rig.js';
import { inspect } from './inspect.js';

/** As in service, only shorter: the server's limits below ours. */
export const SHORT: PostgresLimits = {
  ...PATIENT,
  server: { lockMs: 150, statementMs: 300, idleMs: 5_000 },
  answerMs: 600,
};
/** As behind a pooler that loses our settings: nothing but our own patience ends a statement. */
export const OURS_ALONE: PostgresLimits = {
  ...PATIENT,
  server: { lockMs: 0, statementMs: 0, idleMs: 0 },
  answerMs: 300,
};

const VICTIM = 'victim';

/** One call of the back office: it invites a person under a key. */
export interface Call {
  key: string;
  email: string;
  clientId: string;
  answer?: string;
  refusal?: unknown;
}

export async function soundnessRig(under: DatabaseUnderTest, limits: PostgresLimits, wayTo = sameWay) {
  const place = await under.newPlace();
  const observer = await under.open(place);
  const { id, instanceId, clientId } = await newConnection(observer, { updated_at: 1 });
  await plantSubscription(observer, { instance_integration_id: id, instance_id: instanceId });
  const way = await wayTo(place.databaseUrl as string);
  const database = await openPostgres(`${way.url}?application_name=${VICTIM}`, () => undefined, limits);
  const stranger = new pg.Client({ connectionString: place.databaseUrl });
  await stranger.connect();
  const { run } = platformUnitOfWork(database);
  const invite = async (call: Call): Promise<Call> => {
    const { key, email } = call;
    try {
      const answer: string = await run<string>(
        async (changes): Promise<string> =>
          (await createUser(changes, { clientId, email, withoutManager: false })).id,
        {
          repeatable: {
            ...{ ownerId: 'tok', method: '/Invite', key, requestHash: email },
            encode: (userId: string) => Buffer.from(userId),
            decode: (bytes) => Buffer.from(bytes).toString(),
          },
        },
      );
      return { key, email, clientId, answer };
    } catch (refusal) {
      return { key, email, clientId, refusal };
    }
  };
  return {
    ...{ observer, stranger, way },
    newCall: (): Call => ({ key: randomUUID(), email: `${randomUUID()}@example.com`, clientId }),
    invite,
    /** The processes of the server that serve our connections. */
    victims: async (): Promise<number[]> => {
      const { rows } = await stranger.query('select pid from pg_stat_activity where application_name = $1', [
        VICTIM,
      ]);
      return rows.map(({ pid }) => pid);
    },
    close: async () => {
      await stranger.end();
      way.close();
      await database.close();
    },
  };
}

type Way = Awaited<ReturnType<typeof stallingProxy>>;

async function sameWay(url: string): Promise<Way> {
  return { url, close: () => undefined } as Way;
}

/** Repeats the call as its caller would: a busy machine may exceed the short limits once more. */
async function answerTo(call: Call, invite: (call: Call) => Promise<Call>): Promise<string> {
  for (;;) {
    const { answer, refusal } = await invite(call);
    if (answer !== undefined) {
      return answer;
    }
    expect(refusal).toMatchObject({ code: ErrorCode.UNAVAILABLE });
  }
}

/** Nothing half done, refused writes absent, acknowledged ones present, repetitions once. */
export async function proveSound(
  { observer, invite }: { observer: Database; invite(call: Call): Promise<Call> },
  calls: readonly Call[],
): Promise<void> {
  await expectNoDamage(observer);
  for (const { email, answer, refusal } of calls) {
    const users = await usersOf(observer, email);
    if (answer !== undefined) {
      expect(users).toEqual([answer]);
    } else {
      expect(refusal).toMatchObject({ code: ErrorCode.UNAVAILABLE, retryAfterSeconds: expect.any(Number) });
      expect(users.length).toBeLessThanOrEqual(isUnknown(refusal) ? 1 : 0);
    }
  }
  for (const call of calls) {
    const answer = await answerTo(call, invite);
    expect(await usersOf(observer, call.email)).toEqual([answer]);
    expect(await eventsOf(observer, answer)).toEqual([{ type: 'user.created', deliveries: 1 }]);
  }
  await expectNoDamage(observer);
}

/** The caller was told that it may have happened. */
export function isUnknown(refusal: unknown): boolean {
  return refusal instanceof ServiceError && /does not know whether/.test(refusal.message);
}

async function expectNoDamage({ reader }: Database): Promise<void> {
  const inspections = await inspect(reader, { now: Date.now(), eventsMs: 3_600_000 });
  expect(inspections.filter(({ count }) => count > 0)).toEqual([]);
  expect(inspections.length).toBeGreaterThan(0);
}

async function usersOf({ reader }: Database, email: string): Promise<string[]> {
  const rows = await reader
    .selectFrom('users')
    .innerJoin('accounts', 'accounts.id', 'users.account_id')
    .where('accounts.email', '=', email)
    .select('users.id')
    .execute();
  return rows.map(({ id }) => id);
}

async function eventsOf({ reader }: Database, userId: string) {
  const rows = await reader
    .selectFrom('events')
    .leftJoin('deliveries', 'deliveries.event_id', 'events.id')
    .where('events.entity_id', '=', userId)
    .groupBy(['events.id', 'events.type'])
    .select(({ fn }) => ['events.type', fn.count<number>('deliveries.id').as('deliveries')])
    .execute();
  return rows;
}

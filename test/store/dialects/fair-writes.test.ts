import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import type { WriteOrigin } from '../../../src/domain/unit-of-work.js';
import { ErrorCode, type ServiceError } from '../../../src/errors/service-error.js';
import { newPublicId } from '../../../src/identifiers/public-id.js';
import { lock } from '../../../src/store/adapters/unit-of-work.js';
import type { Database, Writer } from '../../../src/store/database.js';
import { inTurns, SubjectTurns, takeTurn } from '../../../src/store/dialects/turns.js';
import { databaseUnderTest, PATIENT } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { connectionsWaiting } from '../../support/postgres/waiting-connections.js';
import { signalled } from '../../support/signalled.js';
import { plantInstance } from '../rows.js';

/** A write about the subject, which leaves an instance of that name. */
function writeAbout(database: Database, subject: string, name: string, origin?: WriteOrigin) {
  return database.write(
    async (writer) => {
      await lock(writer, [subject]);
      const row = {
        id: newPublicId('InstanceId') as string,
        name,
        version: 'v',
        created_at: 1,
        updated_at: 1,
      };
      await writer.insertInto('instances').values(row).execute();
    },
    undefined,
    origin,
  );
}

async function named(database: Database, name: string): Promise<number> {
  const rows = await database.reader.selectFrom('instances').where('name', '=', name).select('id').execute();
  return rows.length;
}

/** Of twelve that write. */
const MOST_CONNECTIONS_FOR_ONE = 4;
const MOST_CONNECTIONS_FOR_LIMITED = 2;
const MOST_CONNECTIONS_FOR_ALL_LIMITED = 8;
const MOST_WAITING = 64;

const outcomes = async (writes: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(writes)).map((write) =>
    write.status === 'fulfilled' ? 'done' : String((write.reason as { code: unknown }).code),
  );

describe('writes about a subject with a held lock, on PostgreSQL', () => {
  const under = databaseUnderTest('PostgreSQL');

  async function rigWithHeld(limits = PATIENT) {
    const place = await under.newPlace();
    const database = await under.open(place, limits);
    const { id: held } = await plantInstance(database);
    await writeAbout(database, held, 'before');
    const stranger = new pg.Client({ connectionString: place.databaseUrl });
    stranger.on('error', () => undefined);
    await stranger.connect();
    await stranger.query(`begin; select from data_versions where subject_id = '${held}' for update`);
    const release = async () => {
      await stranger.query('rollback');
      await stranger.end();
    };
    return { database, held, release };
  }

  test('leave connections to the reads, the probe and the writes of others', async () => {
    const { database, held, release } = await rigWithHeld();
    const stuck = Array.from({ length: 30 }, () => writeAbout(database, held, 'stuck'));
    const ended = outcomes(stuck);
    const waiting = () => connectionsWaiting(database);
    await eventually('writes that wait for the row', async () => (await waiting()) > 0);
    expect(await waiting()).toBeLessThanOrEqual(MOST_CONNECTIONS_FOR_ONE);
    for (let time = 0; time < 20; time += 1) {
      expect(await named(database, 'before')).toBe(1);
      await writeAbout(database, `other-${time}`, 'other');
      await database.prober.selectFrom('instances').select('id').executeTakeFirst();
    }
    expect(await named(database, 'stuck')).toBe(0);
    await release();
    expect(new Set(await ended)).toEqual(new Set(['done']));
    expect(await named(database, 'other')).toBe(20);
  });

  test('are all made when it is let go, each once', async () => {
    const { database, held, release } = await rigWithHeld();
    const stuck = Array.from({ length: 30 }, () => writeAbout(database, held, 'stuck'));
    await release();
    expect(new Set(await outcomes(stuck))).toEqual(new Set(['done']));
    expect(await named(database, 'stuck')).toBe(30);
  });

  test('leave no dead row by the lock, which readers would have to skip beside a long transaction', async () => {
    const database = await under.openMigrated(await under.newPlace());
    const { id } = await plantInstance(database);
    await writeAbout(database, id, 'first');
    const place = () =>
      sql`select ctid::text, version from data_versions where subject_id = ${id}`.execute(database.reader);
    const { rows: before } = await place();
    await writeAbout(database, id, 'second');
    expect(before).toHaveLength(1);
    expect((await place()).rows).toEqual(before);
  });

  test('are not made for callers who have left meanwhile', async () => {
    const { database, held, release } = await rigWithHeld();
    const caller = new AbortController();
    const stuck = Array.from({ length: 30 }, () =>
      writeAbout(database, held, 'stuck', { signal: caller.signal }),
    );
    const ended = outcomes(stuck);
    caller.abort();
    await release();
    expect(new Set(await ended)).toEqual(new Set([ErrorCode.UNAVAILABLE]));
    expect(await named(database, 'stuck')).toBe(0);
    await writeAbout(database, held, 'after');
    expect(await named(database, 'after')).toBe(1);
  });

  test('are not even begun for those who left while they waited for a connection', async () => {
    const database = await under.openMigrated();
    const { told: gate, tell: open } = signalled();
    const busy = Array.from({ length: 12 }, () => database.write(() => gate));
    const caller = new AbortController();
    let begun = false;
    const left = database.write(
      async () => {
        begun = true;
      },
      undefined,
      { signal: caller.signal },
    );
    const ended = outcomes([left]);
    caller.abort();
    open();
    expect(await ended).toEqual([ErrorCode.UNAVAILABLE].map(String));
    expect(begun).toBe(false);
    await Promise.all(busy);
  });

  test('keep no place in the queue for a caller who left before it', async () => {
    const turns = new SubjectTurns();
    while (turns.tryTake('held')) {
      // Until others have all its turns.
    }
    const caller = new AbortController();
    const left = inTurns(turns, { signal: caller.signal }, async (begun) => {
      const writer = {} as Writer;
      begun(writer);
      caller.abort();
      takeTurn(writer, 'held');
    });
    await expect(left).rejects.toThrow('The caller left');
  });

  test('take no turn once they are over', async () => {
    const turns = new SubjectTurns();
    const writer = {} as Writer;
    await inTurns(turns, {}, async (begun) => begun(writer));
    takeTurn(writer, 'late');
    const free = Array.from({ length: MOST_CONNECTIONS_FOR_ONE }, () => turns.tryTake('late'));
    expect(free).toEqual(free.map(() => true));
  });

  test('take no turn for a try that has failed and is repeated', async () => {
    const turns = new SubjectTurns();
    const others = Array.from({ length: MOST_CONNECTIONS_FOR_ONE }, () => turns.tryTake('held'));
    expect(others).not.toContain(false);
    const [first, second] = [{} as Writer, {} as Writer];
    let tries = 0;
    await inTurns(turns, {}, async (begun) => {
      tries += 1;
      begun(tries === 1 ? first : second);
      if (tries === 1) {
        setImmediate(() => turns.give('held'));
        takeTurn(first, 'held');
      }
      // In a branch of the first try, which failed in another one.
      takeTurn(first, 'late');
      const free = Array.from({ length: MOST_CONNECTIONS_FOR_ONE }, () => turns.tryTake('late'));
      expect(free).not.toContain(false);
    });
    expect(tries).toBe(2);
  });

  function expectRefusals(refusals: readonly unknown[], code: ErrorCode) {
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code, message: expect.stringMatching(/^[A-Z].*\.$/) });
      expect((refusal as ServiceError).retryAfterSeconds).toBeGreaterThan(0);
    }
  }

  test('are refused where too many wait, with a time to come back', async () => {
    const { database, held, release } = await rigWithHeld();
    const refusals: unknown[] = [];
    const stuck = Array.from({ length: 100 }, () =>
      writeAbout(database, held, 'stuck').catch((error: unknown) => void refusals.push(error)),
    );
    const tooMany = 100 - MOST_CONNECTIONS_FOR_ONE - MOST_WAITING;
    await eventually('the refusals', () => refusals.length === tooMany);
    expectRefusals(refusals, ErrorCode.RATE_LIMITED);
    await release();
    await Promise.all(stuck);
    expect(refusals).toHaveLength(tooMany);
    expect(await named(database, 'stuck')).toBe(100 - tooMany);
  });

  test('are refused for good after a while, with a time to come back', async () => {
    const server = { ...PATIENT.server, lockMs: 100 };
    const { database, held, release } = await rigWithHeld({ ...PATIENT, server, turnMs: 100 });
    const stuck = Array.from({ length: 30 }, () => writeAbout(database, held, 'stuck'));
    const refusals = await Promise.all(stuck.map((write) => write.catch((error: unknown) => error)));
    expectRefusals(refusals, ErrorCode.UNAVAILABLE);
    await release();
    expect(await named(database, 'stuck')).toBe(0);
    await writeAbout(database, held, 'after');
  });
});

describe('writes of a limited token, on PostgreSQL', () => {
  const under = databaseUnderTest('PostgreSQL');
  /** Writes of these instances; as many as may begin hold their connections until they are let go. */
  async function busyWith(instances: readonly string[], mayBegin: number) {
    const database = await under.openMigrated();
    const { told: isLetGo, tell: letGo } = signalled();
    let begun = 0;
    const work = async (writer: Writer) => {
      await writer.selectFrom('instances').select('id').executeTakeFirst();
      begun += 1;
      await isLetGo;
    };
    const writes = instances.map((limitedTo) => database.write(work, undefined, { limitedTo }));
    const ended = outcomes(writes);
    await eventually('the first writes', () => begun === mayBegin);
    return { database, writes, ended, letGo, begun: () => begun };
  }

  const ofOne = (count: number) =>
    busyWith(
      Array.from({ length: count }, () => 'ins_1'),
      MOST_CONNECTIONS_FOR_LIMITED,
    );

  test('leave connections to those of other instances, and to sign-on', async () => {
    const { database, begun, ended, letGo } = await ofOne(30);
    for (let time = 0; time < 20; time += 1) {
      await writeAbout(database, 'subject', 'other', { limitedTo: 'ins_2' });
      await writeAbout(database, 'subject', 'sign-on');
    }
    expect(begun()).toBe(MOST_CONNECTIONS_FOR_LIMITED);
    letGo();
    expect(new Set(await ended)).toEqual(new Set(['done']));
    expect(begun()).toBe(30);
  });

  test('leave connections to sign-on and webhooks, however many instances are busy', async () => {
    const instances = Array.from({ length: 20 }, (_, index) => `ins_${index}`);
    const { database, begun, ended, letGo } = await busyWith(instances, MOST_CONNECTIONS_FOR_ALL_LIMITED);
    for (let time = 0; time < 20; time += 1) {
      await writeAbout(database, 'subject', 'sign-on');
    }
    expect(begun()).toBe(MOST_CONNECTIONS_FOR_ALL_LIMITED);
    letGo();
    expect(new Set(await ended)).toEqual(new Set(['done']));
  });

  test('are refused where too many wait', async () => {
    const { writes, ended, letGo } = await ofOne(100);
    await expect(writes.at(-1)).rejects.toMatchObject({ code: ErrorCode.RATE_LIMITED, retryAfterSeconds: 1 });
    letGo();
    const refused = (await ended).filter((outcome) => outcome !== 'done');
    expect(refused).toHaveLength(100 - MOST_CONNECTIONS_FOR_LIMITED - MOST_WAITING);
  });
});

describe('writes that queue for the one writer of SQLite', () => {
  const under = databaseUnderTest('SQLite');

  async function ordered() {
    const database = await under.openMigrated();
    const done: string[] = [];
    const write = (name: string, origin?: WriteOrigin) =>
      database.write(
        async () => {
          done.push(name);
        },
        undefined,
        origin,
      );
    return { done, write };
  }

  test('of one tenant do not make those of another wait for all of them, nor those of the service', async () => {
    const { done, write } = await ordered();
    const busy = Array.from({ length: 900 }, () => write('busy', { lane: 'busy' }));
    await Promise.all([write('quiet', { lane: 'quiet' }), write('own')]);
    expect(done.indexOf('quiet')).toBeLessThan(300);
    expect(done.indexOf('own')).toBeLessThan(300);
    await Promise.all(busy);
    expect(done).toHaveLength(902);
  });

  test('keep their order within a lane', async () => {
    const { done, write } = await ordered();
    const names = Array.from({ length: 300 }, (_, index) => `${index}`);
    await Promise.all([
      ...names.map((name) => write(name, { lane: 'a' })),
      ...names.map((name) => write(`b${name}`, { lane: 'b' })),
    ]);
    expect(done.filter((name) => !name.startsWith('b'))).toEqual(names);
  });

  test('are refused where too many of one tenant wait, and others are not', async () => {
    const { write } = await ordered();
    const busy = outcomes(Array.from({ length: 6_000 }, () => write('busy', { lane: 'busy' })));
    await write('quiet', { lane: 'quiet' });
    const ended = await busy;
    expect(new Set(ended)).toEqual(new Set(['done', ErrorCode.RATE_LIMITED]));
    expect(ended.filter((outcome) => outcome === 'done').length).toBeGreaterThanOrEqual(5_000);
  });

  test('are not made for a caller who has left', async () => {
    const { done, write } = await ordered();
    const caller = new AbortController();
    const first = Array.from({ length: 200 }, () => write('first'));
    const left = write('left', { signal: caller.signal });
    caller.abort();
    await expect(left).rejects.toMatchObject({ code: ErrorCode.UNAVAILABLE });
    await Promise.all(first);
    await eventually('all the others', () => done.length === 200);
    expect(done).not.toContain('left');
  });
});

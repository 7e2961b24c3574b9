import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { Writer } from '../../../src/store/database.js';
import { databaseUnderTest } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { signalled } from '../../support/signalled.js';
import { note, observedCommits } from './observed-commits.js';

describe('group commit', () => {
  const under = databaseUnderTest('SQLite');
  const open = observedCommits();

  test('a hundred writes at once share one commit', async () => {
    const { commits, commitCount, names } = open();
    const wanted = Array.from({ length: 100 }, (_, index) => `note ${index}`);
    await Promise.all(wanted.map((name) => commits.run(note(name))));
    expect(commitCount()).toBe(1);
    expect(names()).toEqual(wanted);
  });

  test('more than fit one group are committed in the order in which they came, in few commits', async () => {
    const { commits, commitCount, names } = open();
    const wanted = Array.from({ length: 500 }, (_, index) => `note ${index}`);
    const acknowledged: string[] = [];
    await Promise.all(wanted.map((name) => commits.run(note(name)).then(() => acknowledged.push(name))));
    expect(commitCount()).toBe(4);
    expect(names()).toEqual(wanted);
    expect(acknowledged).toEqual(wanted);
  });

  test('each write gets its own value back', async () => {
    const { commits } = open();
    const values = await Promise.all([1, 2, 3].map((value) => commits.run(async () => value)));
    expect(values).toEqual([1, 2, 3]);
  });

  test('one that fails is undone alone and gets its own error', async () => {
    const { commits, names, commitCount } = open();
    const failure = new Error('changed its mind');
    const outcomes = await Promise.allSettled([
      commits.run(note('before')),
      commits.run(async (writer) => {
        await note('half done')(writer);
        throw failure;
      }),
      commits.run(() => {
        throw failure;
      }),
      commits.run(note('before')),
      commits.run(note('after')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    expect(outcomes[1]).toHaveProperty('reason', failure);
    expect(outcomes[3]).toMatchObject({ reason: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } });
    expect(names()).toEqual(['before', 'after']);
    expect(commitCount()).toBe(1);
  });

  test('first ones that fail are undone too, and the next ones are written without them', async () => {
    const { commits, names, commitCount, statements } = open();
    const failure = new Error('changed its mind');
    const failing = (name: string) => async (writer: Writer) => {
      await note(name)(writer);
      throw failure;
    };
    const outcomes = await Promise.allSettled([
      commits.run(failing('a')),
      commits.run(note('b')),
      commits.run(note('c')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(outcomes[0]).toHaveProperty('reason', failure);
    expect(names()).toEqual(['b', 'c']);
    expect(commitCount()).toBe(1);
    expect(statements.filter((statement) => statement === 'savepoint job')).toHaveLength(1);

    await expect(commits.run(failing('d'))).rejects.toBe(failure);
    expect(names()).toEqual(['b', 'c']);
  });

  test('when it cannot begin again after the first has failed, all of the group hear why', async () => {
    const failure = new Error('disk I/O error');
    const faults: Record<string, Error> = {};
    const { commits, names } = open(faults);
    const late: Promise<unknown>[] = [];
    const askMore = () => {
      const failing = () => {
        faults['begin immediate'] = failure;
        throw new Error('changed its mind');
      };
      late.push(commits.run(failing), commits.run(note('a')));
    };
    // Who is asked for while those who joined run is too late for this group.
    const joins = signalled<unknown>();
    await commits.run(note('first'), () => joins.tell(commits.run(note('joined'), askMore)));
    await joins.told;
    expect(await Promise.allSettled(late)).toEqual(Array(2).fill({ status: 'rejected', reason: failure }));

    await commits.run(note('later'));
    expect(names()).toEqual(['first', 'joined', 'later']);
  });

  test('a write that is alone does not wait for others before it begins', async () => {
    const { commits, statements } = open();
    const written = commits.run(note('alone'));
    expect(statements).toEqual(['begin immediate']);
    await written;
  });

  test('a write that is asked for within the same turn of the event loop shares the commit', async () => {
    const { commits, commitCount, names } = open();
    const later = new Promise((resolve) => {
      setImmediate(() => resolve(commits.run(note('later'))));
    });
    await Promise.all([commits.run(note('first')), later]);
    expect(commitCount()).toBe(1);
    expect(names()).toEqual(['first', 'later']);
  });

  test('when the commit fails, all of the group hear it and none is written', async () => {
    const failure = new Error('disk I/O error');
    const { commits, names } = open({ commit: failure });
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((name) => commits.run(note(name))));
    expect(outcomes).toEqual(Array(3).fill({ status: 'rejected', reason: failure }));
    expect(names()).toEqual([]);

    await commits.run(note('later'));
    expect(names()).toEqual(['later']);
  });

  test('when it cannot begin, its writes fail, and the next group begins anew', async () => {
    const failure = new Error('disk I/O error');
    const { commits, names } = open({ 'begin immediate': failure });
    // The first does not wait for the other two, who are a group of their own when it fails.
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((name) => commits.run(note(name))));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(outcomes[0]).toHaveProperty('reason', failure);
    expect(names()).toEqual(['b', 'c']);
  });

  test('when a group of several cannot begin, all of it hear it and none is written', async () => {
    const failure = new Error('disk I/O error');
    const faults: Record<string, Error> = {};
    const { commits, names } = open(faults);
    const late: Promise<unknown>[] = [];
    const askMore = () => {
      faults['begin immediate'] = failure;
      late.push(...['a', 'b', 'c'].map((name) => commits.run(note(name))));
    };
    // Who is asked for while those who joined run is too late for this group.
    const joins = signalled<unknown>();
    await commits.run(note('first'), () => joins.tell(commits.run(note('joined'), askMore)));
    await joins.told;
    const outcomes = await Promise.allSettled(late);
    expect(outcomes).toEqual(Array(3).fill({ status: 'rejected', reason: failure }));
    expect(names()).toEqual(['first', 'joined']);

    await commits.run(note('later'));
    expect(names()).toEqual(['first', 'joined', 'later']);
  });

  test('a first write that goes on after SQLite has ended the transaction fails, and later ones are written', async () => {
    const { commits, names } = open();
    await commits.run(note('taken'));
    const again = sql`insert or rollback into notes (name) values ('taken')`;
    const outcomes = await Promise.allSettled([
      commits.run((writer) => again.execute(writer).catch(() => undefined)),
      commits.run(note('b')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(names()).toEqual(['taken', 'b']);
  });

  test('when SQLite itself ends the transaction, all of the group hear why and none is written', async () => {
    const { commits, names } = open();
    await commits.run(note('taken'));
    const outcomes = await Promise.allSettled([
      commits.run(note('a')),
      commits.run((writer) => sql`insert or rollback into notes (name) values ('taken')`.execute(writer)),
      commits.run(note('b')),
    ]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } });
    }
    expect(names()).toEqual(['taken']);
    await commits.run(note('later'));
    expect(names()).toEqual(['taken', 'later']);
  });

  test('a transaction that even its rollback could not end does not poison the writes after it', async () => {
    const { commits, names } = open({ commit: new Error('first'), rollback: new Error('second') });
    await expect(commits.run(note('lost'))).rejects.toThrow('first');
    await expect(commits.run(note('lost too'))).rejects.toBeDefined();
    await commits.run(note('later'));
    expect(names()).toEqual(['later']);
  });

  test('no write is acknowledged before its commit', async () => {
    const { commits, statements } = open();
    const seen: number[] = [];
    await Promise.all(
      ['a', 'b'].map((name) => commits.run(note(name)).then(() => seen.push(statements.indexOf('commit')))),
    );
    expect(seen).toEqual([statements.length - 1, statements.length - 1]);
  });

  test('no write is acknowledged before the disk has it, and the next ones do not wait for that', async () => {
    const waits: (() => void)[] = [];
    const done = () => new Promise<void>((resolve) => void waits.push(resolve));
    const { commits, names } = open({}, { done });
    const acknowledged: string[] = [];
    const write = (name: string) => commits.run(note(name)).then(() => acknowledged.push(name));
    const first = write('first');
    await eventually('the first waits for the disk', async () => waits.length === 1);
    const second = write('second');
    await eventually('the second waits for the disk', async () => waits.length === 2);
    expect(names()).toEqual(['first', 'second']);
    expect(acknowledged).toEqual([]);
    waits[0]?.();
    await first;
    expect(acknowledged).toEqual(['first']);
    waits[1]?.();
    await second;
    expect(acknowledged).toEqual(['first', 'second']);
  });

  test('a write that the disk did not take is not acknowledged', async () => {
    const failure = new Error('disk I/O error');
    const { commits } = open({}, { done: () => Promise.reject(failure) });
    await expect(commits.run(note('lost'))).rejects.toMatchObject({ cause: failure });
    await commits.idle();
  });

  test('nothing is done that the disk would not keep', async () => {
    const failure = new Error('disk I/O error');
    let isSound = true;
    const assertSound = () => {
      if (!isSound) {
        throw failure;
      }
    };
    const { commits, names } = open({}, { assertSound });
    await commits.run(note('kept'));
    isSound = false;
    // The second finds nothing under way, as the first did.
    for (const name of ['refused', 'refused too']) {
      await expect(commits.run(note(name))).rejects.toBe(failure);
    }
    await commits.idle();
    expect(names()).toEqual(['kept']);
  });

  test('idle waits for the disk as well', async () => {
    let isDurable = false;
    const { commits, commitCount } = open(
      {},
      {
        done: async () => {
          while (commitCount() === 0) {
            await new Promise(setImmediate);
          }
          await new Promise(setImmediate);
          isDurable = true;
        },
      },
    );
    void commits.run(note('one'));
    await eventually('it is committed', async () => commitCount() === 1);
    await commits.idle();
    expect(isDurable).toBe(true);
  });

  test('others get their turn between two groups, however many writes wait', async () => {
    const { commits } = open();
    let turns = 0;
    const counting = setImmediate(function count() {
      turns += 1;
      timer = setImmediate(count);
    });
    let timer = counting;
    const writers = Array.from({ length: 129 }, async (_, writer) => {
      for (let index = 0; index < 10; index += 1) {
        await commits.run(note(`${writer} ${index}`));
      }
    });
    await Promise.all(writers);
    clearImmediate(timer);
    expect(turns).toBeGreaterThan(5);
  });

  test('idle waits for what the acknowledged ones continue to write', async () => {
    const { commits, names } = open();
    const chain = commits.run(note('first')).then(() => commits.run(note('second')));
    await commits.idle();
    expect(names()).toEqual(['first', 'second']);
    await chain;
  });

  test('idle waits also for those who learn of the acknowledgement a little later', async () => {
    const { commits, names } = open();
    const heard = async () => {
      await Promise.resolve(commits.run(note('first'))).finally(() => undefined);
      await commits.run(note('second'));
    };
    void heard();
    await commits.idle();
    expect(names()).toEqual(['first', 'second']);
  });

  test('the reader sees a write when it is acknowledged, and not while its group runs', async () => {
    const database = await under.openMigrated();
    const insert = { id: 'ins_1', name: 'Harborlight', version: 'v1', created_at: 1, updated_at: 1 };
    const instances = () => database.reader.selectFrom('instances').select('id').execute();
    await database.write(async (writer) => {
      await writer.insertInto('instances').values(insert).execute();
      expect(await instances()).toEqual([]);
    });
    expect(await instances()).toEqual([{ id: 'ins_1' }]);
  });

  test('a closed database has written what it was given before', async () => {
    const place = await under.newPlace();
    const database = await under.openMigrated(place);
    const insert = { name: 'Harborlight', version: 'v1', created_at: 1, updated_at: 1 };
    const writes = ['ins_1', 'ins_2'].map((id) =>
      database.write((writer) =>
        writer
          .insertInto('instances')
          .values({ id, ...insert })
          .execute(),
      ),
    );
    await database.close();
    await Promise.all(writes);
    const { reader } = await under.open(place);
    await expect(reader.selectFrom('instances').select('id').execute()).resolves.toHaveLength(2);
  });
});

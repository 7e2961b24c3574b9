import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { ErrorCode } from '../../../src/errors/service-error.js';
import type { Writer } from '../../../src/store/database.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { signalled } from '../../support/signalled.js';
import { note, observedCommits } from './observed-commits.js';

describe('those who join a group', () => {
  const open = observedCommits();

  test('what is asked for when a write is done shares its commit, and finds what it wrote', async () => {
    const { commits, statements, names } = open();
    const asked = signalled<string[]>();
    const doneAt: number[] = [];
    const notes = async (writer: Writer) => {
      const { rows } = await sql<{ name: string }>`select name from notes`.execute(writer);
      await note('second')(writer);
      return rows.map(({ name }) => name);
    };
    const first = commits.run(note('first'), () => {
      doneAt.push(statements.length);
      asked.tell(commits.run(notes));
    });
    await first;
    expect(await asked.told).toEqual(['first']);
    expect(statements).toEqual([
      'begin immediate',
      expect.stringContaining('insert'),
      'savepoint job',
      expect.stringContaining('select'),
      expect.stringContaining('insert'),
      'release job',
      'commit',
    ]);
    // Before the next savepoint, so that it holds whatever comes after it.
    expect(doneAt).toEqual([2]);
    expect(names()).toEqual(['first', 'second']);
  });

  test('a failed write is never acknowledged', async () => {
    const { commits, names } = open();
    const done: string[] = [];
    const outcomes = await Promise.allSettled([
      commits.run(
        () => Promise.reject(new Error('changed its mind')),
        () => done.push('rejected'),
      ),
      commits.run(note('kept'), () => done.push('kept')),
      commits.run(note('kept'), () => done.push('twice')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
    expect(done).toEqual(['kept']);
    expect(names()).toEqual(['kept']);
  });

  test('one that joined and fails is undone alone', async () => {
    const { commits, commitCount, names } = open();
    const failure = new Error('changed its mind');
    const joined = signalled<unknown>();
    const refused = joined.told.catch((error: unknown) => error);
    await commits.run(note('first'), () =>
      joined.tell(
        commits.run(async (writer) => {
          await note('half done')(writer);
          throw failure;
        }),
      ),
    );
    expect(await refused).toBe(failure);
    expect(names()).toEqual(['first']);
    expect(commitCount()).toBe(1);
  });

  test('when the commit fails, those who joined hear it too and nothing is written', async () => {
    const failure = new Error('disk I/O error');
    const { commits, names } = open({ commit: failure });
    const joined = signalled<unknown>();
    const outcomes = await Promise.allSettled([
      commits.run(note('first'), () => joined.tell(commits.run(note('joined')))),
      joined.told,
    ]);
    expect(outcomes).toEqual(Array(2).fill({ status: 'rejected', reason: failure }));
    expect(names()).toEqual([]);

    await commits.run(note('later'));
    expect(names()).toEqual(['later']);
  });

  test('those who joined are not acknowledged before the disk has them either', async () => {
    const disk = signalled<void>();
    const { commits, commitCount } = open({}, { done: () => disk.told });
    const acknowledged: string[] = [];
    const joined = signalled<unknown>();
    const first = commits.run(note('first'), () => {
      joined.tell(commits.run(note('joined')).then(() => acknowledged.push('joined')));
    });
    await eventually('both are committed', () => commitCount() === 1);
    expect(acknowledged).toEqual([]);
    disk.tell();
    await Promise.all([first, joined.told]);
    expect(acknowledged).toEqual(['joined']);
  });

  test('whose sync fails do not say that nothing was written, because the commit may last', async () => {
    const failure = Object.assign(new Error('the disk failed'), { code: 'EIO' });
    const { commits, names } = open({}, { done: () => Promise.reject(failure) });
    await expect(commits.run(note('first'))).rejects.toMatchObject({
      code: ErrorCode.UNAVAILABLE,
      message: expect.stringMatching(/^The service does not know whether the change was made\. Repeat /),
      internal: 'EIO: the disk failed',
      cause: failure,
    });
    expect(names()).toEqual(['first']);
  });

  test('no group grows over its bounds, however many join', async () => {
    const { commits, statements, names } = open();
    const joined: Promise<unknown>[] = [];
    const askAlso = (name: string) => () => joined.push(commits.run(note(`${name}, also`)));
    const wanted = Array.from({ length: 300 }, (_, index) => `note ${index}`);
    await Promise.all(wanted.map((name) => commits.run(note(name), askAlso(name))));
    await Promise.all(joined);
    expect(new Set(names())).toEqual(new Set(wanted.flatMap((name) => [name, `${name}, also`])));
    const sizes = statements
      .join('\n')
      .split('begin immediate')
      .map((group) => group.split('insert').length - 1);
    expect(sizes).toEqual([0, 128, 128, 128, 128, 88]);
  });
});

describeEachDatabase('a write that tells when it is done', (under) => {
  const insert = { id: 'ins_1', name: 'Harborlight', version: 'v1', created_at: 1, updated_at: 1 };

  test('tells once, when the next write finds what it wrote', async () => {
    const database = await under.openMigrated();
    const told: Promise<unknown>[] = [];
    const instances = (writer: Writer) => writer.selectFrom('instances').select('id').execute();
    const tell = () => told.push(database.write(instances));
    const answer = await database.write(async (writer) => {
      await writer.insertInto('instances').values(insert).execute();
      return 'written';
    }, tell);
    expect(answer).toBe('written');
    expect(await Promise.all(told)).toEqual([[{ id: 'ins_1' }]]);
  });

  test('tells nothing when it fails', async () => {
    const database = await under.openMigrated();
    let isTold = false;
    const failing = database.write(
      async (writer) => {
        await writer.insertInto('instances').values([insert, insert]).execute();
      },
      () => {
        isTold = true;
      },
    );
    await expect(failing).rejects.toBeDefined();
    await database.write(async () => undefined);
    expect(isTold).toBe(false);
  });
});

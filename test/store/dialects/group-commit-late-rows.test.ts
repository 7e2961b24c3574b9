import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { Writer } from '../../../src/store/database.js';
import { type LateWriter, lateRowsOf } from '../../../src/store/dialects/late-rows.js';
import { signalled } from '../../support/signalled.js';
import { note, observedCommits } from './observed-commits.js';

/** Writes late notes, and remembers which of them it was told to be committed. */
function lateNotes() {
  const committed: string[][] = [];
  const notes: LateWriter<string> = {
    writeLate: async (writer, names) => {
      await sql`insert into notes (name) values ${sql.join(names.map((name) => sql`(${name})`))}`.execute(
        writer,
      );
      return () => committed.push([...names]);
    },
  };
  const leave =
    (...names: string[]) =>
    async (writer: Writer) => {
      for (const name of names) {
        lateRowsOf(writer).add(notes, name);
      }
    };
  return { notes, leave, committed };
}

describe('rows left to the end of a group', () => {
  const open = observedCommits();

  test('are written by one statement before the commit, in the order of the writes', async () => {
    const { commits, statements, names } = open();
    const { leave, committed } = lateNotes();
    const joined = signalled();
    await Promise.all([
      commits.run(leave('a', 'b'), () => joined.tell(commits.run(leave('d')))),
      commits.run(note('early')),
      commits.run(leave('c')),
    ]);
    await joined.told;
    expect(names()).toEqual(['early', 'a', 'b', 'c', 'd']);
    expect(statements.slice(-2)).toEqual([expect.stringContaining('insert'), 'commit']);
    expect(statements.filter((statement) => statement.includes('insert'))).toHaveLength(2);
    expect(committed).toEqual([['a', 'b', 'c', 'd']]);
  });

  test('of a write that is undone are dropped, those of its neighbours are not', async () => {
    const { commits, names } = open();
    const { leave } = lateNotes();
    const failure = new Error('changed its mind');
    const undone = commits.run(async (writer) => {
      await leave('never', 'nor this')(writer);
      throw failure;
    });
    const outcomes = await Promise.allSettled([commits.run(leave('a')), undone, commits.run(leave('b'))]);
    expect(outcomes[1]).toEqual({ status: 'rejected', reason: failure });
    expect(names()).toEqual(['a', 'b']);
  });

  test('are seen by later works of the group before they are written', async () => {
    const { commits } = open();
    const { notes, leave } = lateNotes();
    const other = lateNotes();
    const [, , seen] = await Promise.all([
      commits.run(leave('a')),
      commits.run(other.leave('of another')),
      commits.run(async (writer) => lateRowsOf(writer).of(notes)),
    ]);
    expect(seen).toEqual(['a']);
    expect(await commits.run(async (writer) => lateRowsOf(writer).of(notes))).toEqual([]);
  });

  test.each(['late row', 'commit'])(
    'stay if what follows the %s fails, which is told as unknown',
    async (what) => {
      const failAfter = (one: string) => () => {
        if (one === what) {
          throw new Error('no room for a count');
        }
      };
      const { commits, names } = open(undefined, undefined, failAfter('commit'));
      const { notes } = lateNotes();
      const late: LateWriter<string> = {
        writeLate: async (writer, rows) => {
          await notes.writeLate(writer, rows);
          return failAfter('late row');
        },
      };
      const written = commits.run(async (writer) => lateRowsOf(writer).add(late, 'late'));
      await expect(written).rejects.toThrow('does not know whether the change was made');
      expect(names()).toEqual(['late']);
    },
  );

  test('that cannot be written fail all of the group, and nothing of it is written then or later', async () => {
    const { commits, names } = open();
    const { leave, committed } = lateNotes();
    const outcomes = await Promise.allSettled([
      commits.run(note('early')),
      commits.run(leave('twice')),
      commits.run(leave('twice')),
    ]);
    const reason = expect.objectContaining({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' });
    expect(outcomes).toEqual(Array(3).fill({ status: 'rejected', reason }));
    await commits.run(note('later'));
    expect(names()).toEqual(['later']);
    expect(committed).toEqual([]);
  });

  test('of a failed commit are neither told to be committed nor written by the next group', async () => {
    const failure = new Error('disk I/O error');
    const { commits, names } = open({ commit: failure });
    const { leave, committed } = lateNotes();
    await expect(commits.run(leave('lost'))).rejects.toBe(failure);
    await commits.run(leave('later'));
    expect(names()).toEqual(['later']);
    expect(committed).toEqual([['later']]);
  });

  test('are refused outside of a transaction, where nothing would write them', () => {
    expect(() => lateRowsOf({} as Writer)).toThrow('need a transaction');
  });
});

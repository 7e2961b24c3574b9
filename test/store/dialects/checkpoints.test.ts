import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { Database } from '../../../src/store/database.js';
import type { CheckpointOptions } from '../../../src/store/dialects/checkpoints.js';
import { openSqlite } from '../../../src/store/dialects/sqlite.js';
import { eventually } from '../../support/eventually.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';

const sourceThread = new URL('../../support/sqlite/checkpoint-thread.js', import.meta.url);
const failingThread = new URL('../../support/sqlite/failing-thread.js', import.meta.url);
const idleThread = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', (message) => message === 'end' && parentPort.close());
  `)}`,
);
const MEGABYTE = 1_000_000;

describe('a SQLite database that many wait for', () => {
  const opened: Database[] = [];
  afterEach(async () => {
    for (const database of opened.splice(0)) {
      await database.close();
    }
  });
  const directory = temporaryDirectories();

  async function open(options: Partial<CheckpointOptions> = {}) {
    const file = join(directory(), 'notes.db');
    const deaths: string[] = [];
    const onThreadDeath = (cause: Error) => void deaths.push(cause.message);
    const database = openSqlite(file, {
      checkpoints: { onThreadDeath, threadFile: sourceThread, ...options },
    });
    opened.push(database);
    await sql`create table notes (text text)`.execute(database.patient);
    const write = (length: number) =>
      database.write((writer) => sql`insert into notes values (${'x'.repeat(length)})`.execute(writer));
    /** As many commits as start a thread. */
    const writeOften = async () => {
      for (let commits = 0; commits < 32; commits += 1) {
        await write(1);
      }
    };
    const logPages = async () =>
      (await sql<{ wal_autocheckpoint: number }>`pragma wal_autocheckpoint`.execute(database.patient)).rows[0]
        ?.wal_autocheckpoint;
    return { file, database, deaths, write, writeOften, logPages };
  }

  test('has its log taken over into its file by no commit', async () => {
    const { file, write, writeOften, deaths } = await open({ threadFile: idleThread });
    await writeOften();
    await write(8 * MEGABYTE);
    expect(statSync(file).size).toBeLessThan(MEGABYTE);
    expect(deaths).toEqual([]);
  });

  test('has its log taken over into its file by a thread', async () => {
    const { file, write, writeOften, logPages, deaths } = await open();
    await writeOften();
    await write(8 * MEGABYTE);
    await eventually('the file has what was written', async () => {
      await write(1);
      return statSync(file).size > 8 * MEGABYTE;
    });
    expect(await logPages()).toBe(16_000);
    expect(deaths).toEqual([]);
  });

  test('ends the thread when nothing is written, and starts another when much is written again', async () => {
    const ended = { threads: 0 };
    const note = (worker: Worker) =>
      void worker.once('exit', () => {
        ended.threads += 1;
      });
    process.on('worker', note);
    try {
      const { writeOften, logPages, deaths } = await open({ idleMs: 1 });
      await writeOften();
      await eventually('the thread has ended', async () => ended.threads === 1);
      expect(await logPages()).toBe(1_000);
      await eventually('another thread has ended', async () => {
        // Commits just after a start do not count for the next one.
        await writeOften();
        return ended.threads > 1;
      });
      expect(deaths).toEqual([]);
    } finally {
      process.removeListener('worker', note);
    }
  });

  test('leaves no log behind when it is closed', async () => {
    const { file, database, write } = await open();
    await write(MEGABYTE);
    expect(existsSync(`${file}-wal`)).toBe(true);
    await database.close();
    expect(existsSync(`${file}-wal`)).toBe(false);
    expect(statSync(file).size).toBeGreaterThan(MEGABYTE);
  });

  test('does it itself where no thread can be started, and the commit that wanted it succeeds', async () => {
    // Refused by Node with an exception, as it does at a limit of threads.
    const threadFile = new URL('https://threads.example');
    const { file, write, writeOften, logPages, deaths } = await open({ threadFile });
    await writeOften();
    await write(8 * MEGABYTE);
    expect(statSync(file).size).toBeGreaterThan(8 * MEGABYTE);
    expect(await logPages()).toBe(1_000);
    expect(deaths).toHaveLength(1);
  });

  test('does it itself again when the thread dies, and says so once', async () => {
    const { file, write, writeOften, logPages, deaths } = await open({ threadFile: failingThread });
    await writeOften();
    await eventually('the thread is dead', async () => deaths.length > 0);
    await write(8 * MEGABYTE);
    expect(statSync(file).size).toBeGreaterThan(8 * MEGABYTE);
    expect(await logPages()).toBe(1_000);
    expect(deaths).toEqual(['the disk is gone']);
  });
});

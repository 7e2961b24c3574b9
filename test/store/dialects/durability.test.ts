import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { type DatabasePlace, databaseUnderTest } from '../../support/databases.js';
import { startScript } from '../../support/run-script.js';
import { auditFindings } from '../adapters/operator/audit-findings.js';

const WRITER = 'test/store/dialects/endless-writer.child.ts';

/** The ids a writer acknowledged until it was killed, at once after so many of them. */
async function acknowledgedUntilKilled(
  place: DatabasePlace,
  name: string,
  amount: number,
): Promise<string[]> {
  const writer = startScript(WRITER, [place.dataDir, name]);
  const ended = once(writer, 'exit');
  const acknowledged: string[] = [];
  try {
    for await (const line of createInterface({ input: writer.stdout })) {
      if (acknowledged.push(line) === amount) {
        writer.kill('SIGKILL');
      }
    }
  } finally {
    writer.kill('SIGKILL');
  }
  expect(await ended).toEqual([null, 'SIGKILL']);
  return acknowledged;
}

describe('a SQLite database', () => {
  const under = databaseUnderTest('SQLite');

  async function writtenIds(place: DatabasePlace): Promise<string[]> {
    const { reader } = await under.open(place);
    return (await reader.selectFrom('instances').select('id').execute()).map(({ id }) => id);
  }

  /** The rows and their audit records are the same, and the chains are whole. */
  async function proveRecorded(place: DatabasePlace): Promise<void> {
    const { reader } = await under.open(place);
    const records = await reader.selectFrom('audit_events').select('subject_id').execute();
    expect(records.map(({ subject_id }) => subject_id).sort()).toEqual((await writtenIds(place)).sort());
    expect(
      await auditFindings(reader, (bytes) => createHmac('sha256', 'key').update(bytes).digest()),
    ).toEqual([]);
  }

  test('writes ahead, and waits for the disk itself only where others do not wait for it', async () => {
    const { patient, reader, write } = await under.openMigrated();
    const pragma = async (name: string) =>
      Object.values((await sql.raw(`pragma ${name}`).execute(patient)).rows[0] ?? {});
    expect(await pragma('journal_mode')).toEqual(['wal']);
    const [NORMAL, FULL] = [1, 2];
    expect(await pragma('synchronous')).toEqual([FULL]);
    await write(async () => undefined);
    expect(await pragma('synchronous')).toEqual([NORMAL]);
    expect(await pragma('foreign_keys')).toEqual([1]);
    await expect(reader.deleteFrom('instances').execute()).rejects.toMatchObject({ code: 'SQLITE_READONLY' });
  });

  test('of a writer that is killed again and again has every write that it acknowledged, on record', async () => {
    const place = await under.newPlace();
    await (await under.openMigrated(place)).close();
    for (const amount of [1, 400]) {
      const acknowledged = await acknowledgedUntilKilled(place, `after ${amount}`, amount);
      expect(acknowledged.length).toBeGreaterThanOrEqual(amount);
      expect(await writtenIds(place)).toEqual(expect.arrayContaining(acknowledged));
      await proveRecorded(place);
    }
  });

  test('takes the writes of two processes at once', async () => {
    const place = await under.newPlace();
    await (await under.openMigrated(place)).close();
    const both = await Promise.all(['one', 'two'].map((name) => acknowledgedUntilKilled(place, name, 200)));
    expect(await writtenIds(place)).toEqual(expect.arrayContaining(both.flat()));
    await proveRecorded(place);
  });
});

import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { AuditMac } from '../../../../src/domain/operator/audit-chain.js';
import { withAuditChains } from '../../../../src/store/adapters/operator/audit-chains.js';
import { auditAction, auditRows } from '../../../../src/store/adapters/operator/audit-events.js';
import type { Writer } from '../../../../src/store/database.js';
import { type DatabaseUnderTest, describeEachDatabase } from '../../../support/databases.js';
import { plantSilentTrigger } from '../../../support/planted-triggers.js';
import { auditFindings } from './audit-findings.js';

const mac: AuditMac = (bytes) => createHmac('sha256', 'key').update(bytes).digest();
const ACTOR = { type: 'service_token', id: 'tok_1' };

async function rigOver(under: DatabaseUnderTest) {
  const bare = await under.openMigrated();
  const broken: string[] = [];
  const database = withAuditChains(
    bare,
    () => mac,
    (chain) => broken.push(chain),
  );
  const insert = (writer: Writer, id: string) =>
    writer
      .insertInto('instances')
      .values({ id, name: id, version: 'v1', created_at: 1, updated_at: 1 })
      .execute();
  const audit = (writer: Writer, id: string) =>
    auditAction(writer, 1, ACTOR, { type: 'instance.created', subject: { type: 'instance', id } });
  const rename = (from: string, to: string) =>
    bare.write((writer) => sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(writer));
  return {
    bare,
    broken,
    database,
    insert,
    audit,
    /** A row and its records, in one transaction. */
    make: (id: string, records = 1) =>
      database.write(async (writer) => {
        for (let count = 0; count < records; count += 1) {
          await audit(writer, id);
        }
        await insert(writer, id);
      }),
    /** Meanwhile no record can be stored. */
    withoutRecords: async (work: () => Promise<unknown>) => {
      await rename('audit_events', 'audit_events_away');
      await work();
      await rename('audit_events_away', 'audit_events');
    },
    made: async () =>
      (await bare.reader.selectFrom('instances').orderBy('id').select('id').execute()).map(({ id }) => id),
    records: async () => {
      const rows = await auditRows(bare.reader).chained({ after: undefined, limit: 500 });
      return rows.map(({ seq, subject }) => [seq, subject?.id]);
    },
    findings: () => auditFindings(bare.reader, mac),
  };
}

describeEachDatabase('a write and its audit record', (under) => {
  test('are refused together when the record cannot be stored, and another chain begins afterwards', async () => {
    const { make, withoutRecords, made, records, findings, broken } = await rigOver(under);
    await make('before');
    await withoutRecords(async () => {
      const outcomes = await Promise.allSettled([make('a'), make('b')]);
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ status: 'rejected' });
        expect(String((outcome as PromiseRejectedResult).reason)).toContain('audit_events');
      }
    });
    expect(await made()).toEqual(['before']);
    await make('later');
    expect(await made()).toEqual(['before', 'later']);
    expect((await records()).sort()).toEqual([
      [1, 'before'],
      [1, 'later'],
    ]);
    expect(await findings()).toEqual([]);
    expect(broken).toEqual([]);
  });

  test('are undone when a trigger drops a record without an error, be it the first or a later one', async () => {
    const { bare, make, made, database, insert, audit } = await rigOver(under);
    await make('before');
    const when = "new.subject_id = 'hushed'";
    await plantSilentTrigger(bare, under.kind, { table: 'audit_events', event: 'insert', when });
    const undone = /^The database stored \d of \d audit records, so the write is undone\./;
    await expect(make('hushed')).rejects.toThrow(undone);
    const second = database.write(async (writer) => {
      await audit(writer, 'other');
      await audit(writer, 'hushed');
      await insert(writer, 'other');
    });
    await expect(second).rejects.toThrow(undone);
    await make('later');
    expect(await made()).toEqual(['before', 'later']);
  });

  test('are undone when a trigger drops the record before there are chains', async () => {
    const { bare, insert, audit, made } = await rigOver(under);
    await plantSilentTrigger(bare, under.kind, { table: 'audit_events', event: 'insert' });
    const write = bare.write(async (writer) => {
      await insert(writer, 'unchained');
      await audit(writer, 'unchained');
    });
    await expect(write).rejects.toThrow('The database stored 0 of 1 audit records');
    expect(await made()).toEqual([]);
  });

  test('are refused once when a stranger has taken the place of the record, and not for ever', async () => {
    const { bare, make, made, broken } = await rigOver(under);
    await make('first');
    await bare.write(async (writer) => {
      const row = await writer.selectFrom('audit_events').selectAll().executeTakeFirstOrThrow();
      await writer
        .insertInto('audit_events')
        .values({ ...row, id: 'aud_of_a_stranger', seq: 2 })
        .execute();
    });
    await expect(make('refused')).rejects.toMatchObject({ message: expect.stringMatching(/unique/i) });
    await make('later');
    expect(await made()).toEqual(['first', 'later']);
    expect(broken).toEqual([]);
  });

  test('tell of a record that was removed behind a place that a stranger took', async () => {
    const { bare, make, broken } = await rigOver(under);
    await make('first');
    await bare.write(async (writer) => {
      const row = await writer.selectFrom('audit_events').selectAll().executeTakeFirstOrThrow();
      await writer
        .insertInto('audit_events')
        .values({ ...row, id: 'aud_of_a_stranger', seq: 2, hash: 'forged' })
        .execute();
    });
    await expect(make('refused')).rejects.toMatchObject({ message: expect.stringMatching(/unique/i) });
    await bare.write((writer) => writer.deleteFrom('audit_events').execute());
    await make('later');
    expect(broken).toHaveLength(1);
  });

  test('vanish together when the write is undone after it was recorded', async () => {
    const { make, database, insert, audit, made, records, findings } = await rigOver(under);
    const undone = () =>
      database.write(async (writer) => {
        await audit(writer, 'never');
        await insert(writer, 'never');
        await audit(writer, 'never');
        throw new Error('refused');
      });
    await make('first');
    const outcomes = await Promise.allSettled([undone(), make('a', 3), undone(), make('b'), undone()]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
    ]);
    expect(await made()).toEqual(['a', 'b', 'first']);
    expect((await records()).map(([, id]) => id).sort()).toEqual(['a', 'a', 'a', 'b', 'first']);
    expect(await findings()).toEqual([]);
  });

  test('are stored with more records than one statement takes, in their order', async () => {
    const { make, database, audit, records, findings } = await rigOver(under);
    await make('first');
    await database.write(async (writer) => {
      for (let index = 0; index < 150; index += 1) {
        await audit(writer, `thing ${index}`);
      }
    });
    expect(await records()).toEqual([
      [1, 'first'],
      ...Array.from({ length: 150 }, (_, index) => [index + 2, `thing ${index}`]),
    ]);
    expect(await findings()).toEqual([]);
  });

  test('continue no chain whose newest record is gone: all records of the transaction begin a new one', async () => {
    const { bare, make, findings, broken, records } = await rigOver(under);
    await make('first');
    await bare.write((writer) => writer.deleteFrom('audit_events').execute());
    await make('second', 3);
    expect(broken).toHaveLength(1);
    expect(await records()).toEqual([
      [1, 'second'],
      [2, 'second'],
      [3, 'second'],
    ]);
    expect(await findings()).toEqual([]);
  });

  if (under.kind === 'SQLite') {
    test('share the fate of their group: a write without a record fails with those whose records cannot be stored', async () => {
      const { make, database, insert, withoutRecords, made } = await rigOver(under);
      await withoutRecords(async () => {
        const plain = database.write((writer) => insert(writer, 'plain'));
        const outcomes = await Promise.allSettled([plain, make('a')]);
        expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      });
      expect(await made()).toEqual([]);
    });

    test('of concurrent writes are in the order of the writes, in one chain', async () => {
      const { make, records } = await rigOver(under);
      const ids = Array.from({ length: 300 }, (_, index) => `thing ${index}`);
      await Promise.all(ids.map((id) => make(id)));
      expect(await records()).toEqual(ids.map((id, index) => [index + 1, id]));
    });
  } else {
    test('abandon their chain when the answer to the commit is lost, because it may have succeeded', async () => {
      const { make, database, audit, records, findings } = await rigOver(under);
      await make('first');
      // Kills its own connection at the commit, by a trigger that is run there.
      await database.write((writer) =>
        sql`
          create function die() returns trigger language plpgsql as
            'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'
        `.execute(writer),
      );
      await database.write((writer) =>
        sql`
          create constraint trigger dies after insert on audit_events deferrable initially deferred
            for each row when (new.type = 'instance.updated') execute function die()
        `.execute(writer),
      );
      const killed = database.write((writer) =>
        auditAction(writer, 1, ACTOR, {
          type: 'instance.updated',
          subject: { type: 'instance', id: 'killed' },
        }),
      );
      await expect(killed).rejects.toThrow();
      await database.write((writer) => audit(writer, 'later'));
      expect((await records()).sort()).toEqual([
        [1, 'first'],
        [1, 'later'],
      ]);
      expect(await findings()).toEqual([]);
    });
  }
});

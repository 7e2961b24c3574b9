import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { anchoring, firstLookOf, startKeepingAudit } from '../../../../src/cli/roles/keeping-audit.js';
import type { AuditMac } from '../../../../src/domain/operator/audit-chain.js';
import { inNameOf } from '../../../../src/domain/unit-of-work.js';
import { withAuditChains } from '../../../../src/store/adapters/operator/audit-chains.js';
import { auditRows } from '../../../../src/store/adapters/operator/audit-events.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import { purgeStore } from '../../../../src/store/adapters/purge.js';
import { scrub } from '../../../../src/telemetry/log.js';
import { type DatabaseUnderTest, describeEachDatabase } from '../../../support/databases.js';
import { signalled } from '../../../support/signalled.js';
import { auditFindings } from './audit-findings.js';

const mac: AuditMac = (bytes) => createHmac('sha256', 'key').update(bytes).digest();
const ACTOR = { type: 'service_token', id: 'tok_1' };
const silent = { debug() {}, info() {}, warn() {}, error() {} };

async function rigOver(under: DatabaseUnderTest) {
  const bare = await under.openMigrated();
  let now = 1_000;
  const process = () => operatorUnitOfWork({ ...withAuditChains(bare, () => mac), clock: () => now });
  const unitOfWork = process();
  const record = (id: string, by = unitOfWork) =>
    inNameOf(ACTOR, by).run((changes) =>
      changes.audit(changes.actor, { type: 'unit.updated', subject: { type: 'unit', id } }),
    );
  const heads: unknown[] = [];
  const log = {
    ...silent,
    info: (_: string, told?: Record<string, unknown>) => void heads.push(told?.heads),
  };
  return {
    bare,
    unitOfWork,
    process,
    record,
    heads,
    log,
    anchors: (firstLook = 0) => anchoring({ operator: unitOfWork }, log, firstLook),
    setTime: (time: number) => {
      now = time;
    },
    records: () => auditRows(bare.reader).chained({ after: undefined, limit: 500 }),
    findings: (by: AuditMac = mac) => auditFindings(bare.reader, by),
  };
}

describeEachDatabase('the chains of the audit log', (under) => {
  test('are whole however writes come: side by side, refused, and of several processes', async () => {
    const { record, unitOfWork, process, records, findings } = await rigOver(under);
    const refused = () =>
      inNameOf(ACTOR, unitOfWork).run(async (changes) => {
        await changes.audit(changes.actor, { type: 'unit.updated', subject: { type: 'unit', id: 'never' } });
        throw new Error('refused');
      });
    const other = process();
    const writes = Array.from({ length: 60 }, (_, index) =>
      index % 3 === 0 ? refused() : record(`thing ${index}`, index % 2 === 0 ? unitOfWork : other),
    );
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(40);
    expect(await records()).toHaveLength(40);
    expect(await findings()).toEqual([]);
    const chains = new Set((await records()).map(({ chain }) => chain));
    expect(chains.size).toBeLessThanOrEqual(under.kind === 'SQLite' ? 2 : 40);
  });

  test('report a record that was changed, removed, or written without the key', async () => {
    const { bare, record, records, findings } = await rigOver(under);
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await record(id);
    }
    const [, second, , fourth] = await records();
    const chain = second?.chain as string;
    await bare.write((writer) =>
      writer
        .updateTable('audit_events')
        .set({ actor_id: 'tok_2' })
        .where('id', '=', second?.id as string)
        .execute(),
    );
    await bare.write((writer) =>
      writer
        .deleteFrom('audit_events')
        .where('id', '=', fourth?.id as string)
        .execute(),
    );
    expect(await findings()).toEqual([
      { fault: 'changed', chain, fromSeq: 2, toSeq: 2, eventId: second?.id },
      { fault: 'missing', chain, fromSeq: 4, toSeq: 4 },
    ]);
    const otherKey: AuditMac = (bytes) => createHmac('sha256', 'another').update(bytes).digest();
    expect((await findings(otherKey)).map(({ fault }) => fault)).toContain('other_key');
  });

  test('report a record that was put in beside them', async () => {
    const { bare, record, findings } = await rigOver(under);
    await record('a');
    const unchained = operatorUnitOfWork({ ...bare, clock: () => 2_000 });
    await inNameOf(ACTOR, unchained).run((changes) =>
      changes.audit(changes.actor, { type: 'unit.updated', subject: { type: 'unit', id: 'put in' } }),
    );
    expect(await findings()).toEqual([expect.objectContaining({ fault: 'unchained' })]);
  });

  test.each([
    ['none', null],
    ['the one before the first', 0],
    ['one before all others', -9_007_199_254_740_992],
    ['one beyond the last that can be counted', 9_007_199_254_740_992],
  ])('report records that were put in at a place that no chain has: %s', async (_, seq) => {
    const { bare, record, records, findings } = await rigOver(under);
    await record('a');
    await record('b');
    const all = bare.reader.selectFrom('audit_events').selectAll();
    const own = await all.where('subject_id', '=', 'a').executeTakeFirstOrThrow();
    const { chain } = own;
    const forged = [chain, 'ach_before.00000000', 'ach_later.00000000'].map((each, index) => ({
      ...{ ...own, id: `aud_forged_${index}`, chain: each, seq },
      hash: '',
    }));
    await bare.write((writer) => writer.insertInto('audit_events').values(forged).execute());
    const found = await findings();
    expect(found.map(({ fault }) => fault)).toEqual(['changed', 'changed', 'changed']);
    expect(found.map(({ eventId }) => eventId).sort()).toEqual(forged.map(({ id }) => id));
    expect((await records()).map(({ subject }) => subject?.id)).toEqual(['a', 'b']);
  });

  test('are read to their end although records without a place fill more than a page', async () => {
    const { bare, record, records, findings } = await rigOver(under);
    await record('a');
    await record('b');
    const [first] = await bare.reader.selectFrom('audit_events').selectAll().execute();
    const forged = Array.from({ length: 600 }, (_, index) => ({ ...first, id: `aud_${index}`, seq: null }));
    await bare.write((writer) =>
      writer
        .insertInto('audit_events')
        .values(forged as never)
        .execute(),
    );
    expect(await records()).toHaveLength(2);
    expect(await findings()).toHaveLength(500);
  });

  test('an anchor makes a removed end, and a removed chain, missing', async () => {
    const { bare, record, records, unitOfWork, process, findings } = await rigOver(under);
    await record('a');
    await record('b');
    const other = process();
    await record('c', other);
    await anchoring({ operator: process() }, silent, 0)();
    expect(await findings()).toEqual([]);
    const all = await records();
    const ending = all.find(({ seq, subject }) => seq === 2 && subject?.id === 'b');
    const lone = all.find(({ subject }) => subject?.id === 'c');
    await bare.write((writer) =>
      writer
        .deleteFrom('audit_events')
        .where('id', 'in', [ending?.id as string, lone?.id as string])
        .execute(),
    );
    const found = await findings();
    expect(found).toHaveLength(2);
    expect(found).toContainEqual({ fault: 'missing', chain: ending?.chain, fromSeq: 2, toSeq: 2 });
    expect(found).toContainEqual({ fault: 'missing', chain: lone?.chain, fromSeq: 1, toSeq: 1 });
    // The process with the missing newest record continues in a new chain.
    await record('d', unitOfWork);
    expect(await findings()).toHaveLength(2);
  });

  test('a process that starts after long silence names the newest records from before, and its own when it ends', async () => {
    const { bare, record, records, process, setTime, findings, heads, log } = await rigOver(under);
    await record('before');
    const store = { operator: process(), clock: Date.now };
    const firstLook = await firstLookOf(store);
    setTime(Date.now());
    await record('at once', store.operator);
    const { told: anchored, tell } = signalled();
    const info = (...line: Parameters<typeof log.info>) => tell(log.info(...line));
    const keeping = startKeepingAudit(store, { flush: async () => {} }, { ...log, info }, firstLook);
    await anchored;
    await record('at last', store.operator);
    const all = await records();
    const [lone, own] = ['before', 'at once'].map(
      (id) => all.find(({ subject }) => subject?.id === id)?.chain as string,
    ) as [string, string];
    await keeping.stop();
    expect(heads[0]).toEqual({ [lone]: expect.stringMatching(/^1 /), [own]: expect.stringMatching(/^1 /) });
    expect(heads[1]).toEqual({ [own]: expect.stringMatching(/^3 /) });
    const logged = scrub(JSON.stringify(heads[0]));
    expect(logged).toBe(JSON.stringify(heads[0]));
    expect(logged).toContain(all.find(({ chain }) => chain === lone)?.hash.slice(0, 32));
    await bare.write((writer) => writer.deleteFrom('audit_events').where('chain', '=', lone).execute());
    expect(await findings()).toEqual([{ fault: 'missing', chain: lone, fromSeq: 1, toSeq: 1 }]);
  });

  test('anchors name every chain that grew, however many there are', async () => {
    const { bare, record, records, process, unitOfWork, findings } = await rigOver(under);
    for (let index = 0; index < 101; index += 1) {
      await record(`thing ${index}`, process());
    }
    const grown = new Set((await records()).map(({ chain }) => chain));
    expect(grown.size).toBe(101);
    await anchoring({ operator: unitOfWork }, silent, 0)();
    await bare.write((writer) =>
      writer
        .deleteFrom('audit_events')
        .where('chain', 'in', [...grown])
        .execute(),
    );
    expect(new Set((await findings()).map(({ chain }) => chain))).toEqual(grown);
  });

  test('anchors name what was recorded before the clock was set back once, and again when the chain grew', async () => {
    const { record, setTime, anchors, heads, records } = await rigOver(under);
    setTime(20_000);
    await record('ahead');
    setTime(1_000);
    const anchor = anchors();
    await anchor();
    await anchor();
    await record('after');
    await anchor();
    const [{ chain } = { chain: '' }] = await records();
    expect(heads).toEqual([1, 3].map((seq) => ({ [chain]: expect.stringMatching(`^${seq} `) })));
  });

  test('anchors name a record whose commit was answered long after its time', async () => {
    const { record, setTime, process, anchors, heads, records } = await rigOver(under);
    const anchor = anchors(400_000);
    setTime(1_000);
    await record('of an earlier process', process());
    setTime(700_000);
    await anchor();
    setTime(300_000);
    await record('waited for a replica', process());
    setTime(700_000);
    await anchor();
    await anchor();
    const late = (await records()).find(({ subject }) => subject?.id === 'waited for a replica');
    expect(heads).toEqual([{ [late?.chain as string]: `1 ${late?.hash.slice(0, 32)}` }]);
  });

  test('anchors name what follows an anchor, and no anchor that was put in far behind hides it', async () => {
    const { bare, record, unitOfWork, anchors, heads, records } = await rigOver(under);
    const anchor = anchors();
    await record('first');
    await anchor();
    const own = bare.reader.selectFrom('audit_events').selectAll().where('type', '=', 'audit.anchored');
    const forged = { ...(await own.executeTakeFirstOrThrow()), id: 'aud_forged', seq: 1_000 };
    // With as many rows as numbers; PostgreSQL has only whole ones.
    const fractions = Array.from({ length: under.kind === 'SQLite' ? 997 : 0 }, (_, index) => ({
      ...{ ...forged, id: `aud_forged_${index}`, seq: 2 + (index + 1) / 1_000 },
    }));
    await bare.write((writer) =>
      writer
        .insertInto('audit_events')
        .values([forged, ...fractions])
        .execute(),
    );
    await anchor();
    await record('second', unitOfWork);
    await anchor();
    const [{ chain } = { chain: '' }] = await records();
    expect(heads).toEqual([1, 3].map((seq) => ({ [chain]: expect.stringMatching(`^${seq} `) })));
  });

  test('writes that are undone give back the chain that they took', async () => {
    const { record, unitOfWork, records, findings } = await rigOver(under);
    await record('first');
    for (let index = 0; index < 5; index += 1) {
      const undone = inNameOf(ACTOR, unitOfWork).run(async (changes) => {
        await changes.audit(changes.actor, { type: 'unit.updated', subject: { type: 'unit', id: 'never' } });
        throw new Error('refused');
      });
      await expect(undone).rejects.toThrow('refused');
      await record(`thing ${index}`);
    }
    const all = await records();
    expect(new Set(all.map(({ chain }) => chain)).size).toBe(1);
    expect(all.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await findings()).toEqual([]);
  });

  test('a purge shortens chains from their beginnings, and they are whole still', async () => {
    const { bare, record, setTime, findings, records } = await rigOver(under);
    for (const time of [1_000, 2_000, 3_000, 4_000]) {
      setTime(time);
      await record(`at ${time}`);
    }
    const purge = purgeStore(withAuditChains(bare, () => mac));
    expect(await purge.remove('audit_event', 3_000, 1)).toBe(1);
    expect(await purge.remove('audit_event', 3_000, 10)).toBe(1);
    expect(await purge.remove('audit_event', 3_000, 10)).toBe(0);
    expect(await findings()).toEqual([]);
    const first = (await records()).find(({ subject }) => subject?.id === 'at 3000');
    await bare.write((writer) =>
      writer
        .deleteFrom('audit_events')
        .where('id', '=', first?.id as string)
        .execute(),
    );
    expect(await findings()).toEqual([{ fault: 'missing', chain: first?.chain, fromSeq: 3, toSeq: 3 }]);
  });

  test('a purge goes on behind records from before the clock was set back, once later ones are old', async () => {
    const { bare, record, setTime, findings } = await rigOver(under);
    const ahead = Date.now() + 3_600_000;
    for (const time of [1_000, ahead, ahead, 2_000, ahead, 4_000]) {
      setTime(time);
      await record(`at ${time}`);
    }
    const purge = purgeStore(withAuditChains(bare, () => mac));
    expect(await purge.remove('audit_event', 2_000, 10)).toBe(1);
    expect(await purge.remove('audit_event', 3_000, 10)).toBe(3);
    expect(await purge.remove('audit_event', 3_000, 10)).toBe(0);
    expect(await findings()).toEqual([]);
  });

  test('a purge shortens other chains although many records of one are from a clock that was behind', async () => {
    const { bare, process, record, setTime, findings } = await rigOver(under);
    const withoutChain = operatorUnitOfWork({ ...bare, clock: () => 2_000 });
    setTime(5_000);
    await record('stays');
    setTime(1_000);
    for (let index = 0; index < 60; index += 1) {
      await record(`behind ${index}`);
    }
    setTime(2_000);
    await record('old', process());
    await record('of 1.3.1', withoutChain);
    const purge = purgeStore(withAuditChains(bare, () => mac));
    expect(await purge.remove('audit_event', 3_000, 10)).toBe(2);
    expect(await findings()).toEqual([]);
  });

  test('a purge does not confirm a changed record, and leaves it for the verification to find', async () => {
    const { bare, record, setTime, findings, records } = await rigOver(under);
    for (const id of ['a', 'b', 'c', 'd']) {
      setTime(5_000);
      await record(id);
    }
    const [first, second, third] = await records();
    const chain = first?.chain as string;
    const spoiled: unknown[] = [];
    const purge = purgeStore(
      withAuditChains(bare, () => mac),
      (...place) => spoiled.push(place),
    );
    const backDated = [first, second].map((row) => row?.id as string);
    await bare.write((writer) =>
      writer.updateTable('audit_events').set({ created_at: 1 }).where('id', 'in', backDated).execute(),
    );
    const found = await findings();
    expect(found.map(({ fault, fromSeq }) => [fault, fromSeq])).toEqual([
      ['changed', 1],
      ['changed', 2],
    ]);
    expect(await purge.remove('audit_event', 3_000, 10)).toBe(0);
    expect(spoiled).toEqual([[chain, 1]]);
    expect(await findings()).toEqual(found);

    // Nor does it continue behind a hole, whatever a record without the key says of a purge.
    await bare.write((writer) => writer.deleteFrom('audit_events').where('id', 'in', backDated).execute());
    await operatorUnitOfWork({ ...bare, clock: () => 6_000 }).run((changes) =>
      changes.audit(ACTOR, {
        type: 'audit.purged',
        subject: { type: 'audit_chain', id: chain },
        attributes: { seq: '2', hash: second?.hash as string, proof: 'none' },
      }),
    );
    expect(await purge.remove('audit_event', 5_500, 10)).toBe(0);
    expect(spoiled).toContainEqual([chain, third?.seq]);
    expect(await findings()).toContainEqual({ fault: 'missing', chain, fromSeq: 1, toSeq: 2 });
  });

  test('a purge shortens other chains although one was tampered with, and repeats the claims of removed records', async () => {
    const { bare, process, record, setTime, findings, records } = await rigOver(under);
    setTime(1_000);
    for (const id of ['a', 'b']) {
      await record(id);
    }
    const purging = withAuditChains(bare, () => mac);
    const purge = purgeStore(purging);
    expect(await purge.remove('audit_event', 2_000, 1)).toBe(1);
    const hit = (await records()).find(({ subject }) => subject?.id === 'b');
    await bare.write((writer) =>
      writer
        .updateTable('audit_events')
        .set({ actor_id: 'tok_2' })
        .where('id', '=', hit?.id as string)
        .execute(),
    );
    const found = [
      { fault: 'changed', chain: hit?.chain, fromSeq: hit?.seq, toSeq: hit?.seq, eventId: hit?.id },
    ];
    const rest = process();
    for (let index = 0; index < 60; index += 1) {
      await record(`rest ${index}`, rest);
    }
    // Records of the purge itself are old by this time too: other processes' records go first, then those.
    const later = Date.now() + 3_600_000;
    expect(await purge.remove('audit_event', later, 60)).toBe(60);
    expect(await purge.remove('audit_event', later, 2)).toBe(2);
    expect(await findings()).toEqual(found);
  });

  test('report a record that was put in at a place that a purge emptied', async () => {
    const { bare, record, setTime, findings } = await rigOver(under);
    for (const time of [1_000, 2_000, 3_000]) {
      setTime(time);
      await record(`at ${time}`);
    }
    const rows = () => bare.reader.selectFrom('audit_events').selectAll();
    const second = await rows().where('subject_id', '=', 'at 2000').executeTakeFirstOrThrow();
    const purge = purgeStore(withAuditChains(bare, () => mac));
    expect(await purge.remove('audit_event', 3_000, 10)).toBe(2);
    expect(await findings()).toEqual([]);
    await bare.write((writer) =>
      writer
        .insertInto('audit_events')
        .values({ ...second, actor_id: 'tok_2' })
        .execute(),
    );
    expect(await findings()).toEqual([
      { fault: 'changed', chain: second.chain, fromSeq: 2, toSeq: 2, eventId: second.id },
    ]);
  });

  test('one batch of a purge shortens the chains of many nodes', async () => {
    const { bare, process, record, setTime, findings } = await rigOver(under);
    setTime(1_000);
    for (const id of ['a', 'b', 'c']) {
      await record(id, process());
    }
    const purge = purgeStore(withAuditChains(bare, () => mac));
    expect(await purge.remove('audit_event', 2_000, 10)).toBe(3);
    expect(await findings()).toEqual([]);
  });

  test('purges side by side remove no more than one would, and leave the chains whole', async () => {
    const { bare, record, findings, records } = await rigOver(under);
    for (let index = 0; index < 40; index += 1) {
      await record(`thing ${index}`);
    }
    const purge = purgeStore(withAuditChains(bare, () => mac));
    const removed = await Promise.all(
      Array.from({ length: 16 }, () => purge.remove('audit_event', 2_000, 3)),
    );
    expect(removed.reduce((sum, count) => sum + count, 0)).toBe(40);
    expect((await records()).filter(({ createdAt }) => createdAt < 2_000)).toEqual([]);
    expect(await findings()).toEqual([]);
  });
});

import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import {
  AuditFault,
  type AuditFinding,
  AuditOutcome,
  type AuditRecord,
} from '../../../../generated/proto/integration/operator/v1/audit.js';
import { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import { exportRecords, verify } from '../../../../src/cli/commands/operator/audit-chain.js';
import { ExportedChains } from '../../../../src/cli/commands/operator/exported-chains.js';
import { asJsonLine } from '../../../../src/cli/commands/output/printable.js';
import { type AuditMac, PURGED_TYPE, purgeClaimOf } from '../../../../src/domain/operator/audit-chain.js';
import { operatorService } from '../../../../src/rpc/domain-server/operator/index.js';
import type { OperatorDependencies } from '../../../../src/rpc/domain-server/operator/write.js';
import { withAuditChains } from '../../../../src/store/adapters/operator/audit-chains.js';
import { auditRemoval } from '../../../../src/store/adapters/operator/audit-purge.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import { rpcRigs } from '../../../rpc/rig.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';

const mac: AuditMac = (bytes) => createHmac('sha256', 'key').update(bytes).digest();
const OPTIONS = { requestId: 'request-1', deadlineMs: 20_000 };

describeEachDatabase('an export of a log of which a purge removed the oldest records', (under) => {
  const rigs = rpcRigs();
  const newDirectory = temporaryDirectories();

  /** Two chains of three records; of a third one, two were purged and three are left. */
  async function exported() {
    const bare = await under.openMigrated();
    let now = 1_000;
    const process = () => ({ ...withAuditChains(bare, () => mac), clock: () => now });
    const [old, other, third] = [process(), process(), process()];
    const record = async (database: typeof old, id: string) =>
      operatorUnitOfWork(database).run((changes) =>
        changes.audit(
          { type: 'service_token', id: 'tok_1' },
          { type: 'unit.updated', subject: { type: 'unit', id }, attributes: { fields: 'name' } },
        ),
      );
    await record(old, 'purged 1');
    await record(old, 'purged 2');
    now = 5_000;
    for (const database of [old, other, third]) {
      for (const at of ['1', '2', '3']) {
        await record(database, at);
      }
    }
    const service = operatorService({
      unitOfWork: operatorUnitOfWork(bare),
      auditMac: mac,
    } as unknown as OperatorDependencies);
    const rig = await rigs.start([service], {
      authenticate: () => ({ caller: 'auditor', tokenId: 'tok_2' }),
    });
    const client = rig.channel('any').clientOf(OperatorServiceService);
    const list = async () =>
      (await client.listAuditRecords({ pageSize: 100, pageToken: '' }, OPTIONS)).records;
    const before = await list();
    await auditRemoval(process())(2_000, 100);
    const records = await list();
    const verified = async (changed: readonly AuditRecord[], options: object = {}) => {
      const file = join(newDirectory(), 'audit.jsonl');
      writeFileSync(file, changed.map((each) => `${asJsonLine(each)}\n`).join(''));
      const operator = {
        verifyAuditRecords: (request: { records: AuditRecord[] }) =>
          client.verifyAuditRecords(request, OPTIONS),
      };
      return verify({ operator } as never, ['', ''], { file, ...options } as never) as Promise<{
        json: { findings: AuditFinding[] };
        text: string;
        failure?: Error;
      }>;
    };
    const findingsIn = async (changed: readonly AuditRecord[]) => (await verified(changed)).json.findings;
    return { before, records, verified, findingsIn };
  }

  const ofPurged = (records: readonly AuditRecord[]) => {
    const first = records.find(({ seq, previousHash }) => seq === 3 && previousHash === '') as AuditRecord;
    return { first, at: records.indexOf(first) };
  };

  /** The places of a chain that begins in the file and has three records, in order. */
  const ofWhole = (records: readonly AuditRecord[]) => {
    const { chain } = records.find(
      ({ chain, seq }) => seq === 3 && records.some((each) => each.chain === chain && each.seq === 1),
    ) as AuditRecord;
    return records.flatMap((each, index) => (each.chain === chain ? [index] : []));
  };

  const withEvent = (
    record: AuditRecord,
    event: Partial<NonNullable<AuditRecord['event']>>,
  ): AuditRecord => ({
    ...record,
    event: { ...(record.event as NonNullable<AuditRecord['event']>), ...event },
  });

  test('is intact', async () => {
    const { records, findingsIn } = await exported();
    expect(records.some(({ event }) => event?.type === PURGED_TYPE)).toBe(true);
    expect(ofPurged(records).at).toBeGreaterThanOrEqual(0);
    expect(await findingsIn(records)).toEqual([]);
  });

  test('is intact if the purge came when the first of these records had been exported', async () => {
    const { before, records, findingsIn } = await exported();
    const { at } = ofPurged(records);
    const [first] = before.filter(({ event }) => event?.subject?.id === 'purged 1') as [AuditRecord];
    expect(await findingsIn(records.toSpliced(at, 0, first))).toEqual([]);
    const missing = records.map((each, index) => (index === at ? { ...each, seq: each.seq + 1 } : each));
    expect(await findingsIn(missing.toSpliced(at, 0, first))).toContainEqual(
      expect.objectContaining({ fault: AuditFault.MISSING, fromSeq: 3, toSeq: 3 }),
    );
  });

  test('lists a record as not verified that was put in at a purged place, with what was put in behind it', async () => {
    const { records, verified } = await exported();
    const { first, at } = ofPurged(records);
    const { chain } = first;
    const forged = { ...withEvent(first, { id: 'aud_forged' }), seq: 2, hash: '', previousHash: '' };
    const alone = await verified(records.toSpliced(at, 0, { ...forged, hash: 'h' }));
    expect(alone.json.findings).toEqual([]);
    expect(alone.text).toBe(`not verified: ${chain} 2 aud_forged`);
    expect(alone.failure?.message).toMatch(/^Records that could not be verified: 1\. /);

    const next = { ...withEvent(first, { id: 'aud_next' }), seq: 3, hash: 'h', previousHash: '' };
    const both = await verified(records.toSpliced(at, 1, forged, next));
    expect(both.text).toMatch(new RegExp(`^not verified: ${chain} 2 aud_forged$`, 'm'));
    expect(both.text).toMatch(new RegExp(`^changed: ${chain} 3 aud_next$`, 'm'));
    expect(both.failure?.message).toMatch(/^The audit log is not intact\. /);
  });

  test('is intact if a purge removed the last record of a page before the next page was exported', async () => {
    const { records, verified } = await exported();
    const [, second = 0] = ofWhole(records);
    const blanked = { ...(records[second] as AuditRecord), previousHash: '' };
    expect((await verified(records.with(second, blanked))).text).toMatch(
      /^The records of the file are intact\./,
    );
    const forged = withEvent(blanked, { type: 'unit.deleted' });
    expect((await verified(records.with(second, forged))).text).toMatch(/^changed: \S+ 2 /);
  });

  test('is intact if a second purge removed the first exported records of a chain', async () => {
    const { records, verified } = await exported();
    const { first } = ofPurged(records);
    const claim = records.find(({ event }) => event?.type === PURGED_TYPE) as AuditRecord;
    const { seq, hash } = first;
    const { proof } = purgeClaimOf(mac, { chain: first.chain, seq, hash });
    const attributes = Object.entries({ seq: String(seq), hash, proof });
    const later = withEvent(
      { ...claim, chain: `ach_later.${claim.chain.split('.')[1]}`, seq: 7, previousHash: '' },
      { attributes: attributes.map(([name, value]) => ({ name, value })) },
    );
    const { json } = await verified([...records, later]);
    expect(json.findings.filter(({ chain }) => chain === first.chain)).toEqual([]);
    expect(json).toMatchObject({ unverified: [] });
  });

  /** The log of a domain, with the newest records as anchors. */
  const logOf = (records: readonly AuditRecord[], hashOf = ({ hash }: AuditRecord) => hash.slice(0, 32)) => {
    const heads = Object.fromEntries(records.map((each) => [each.chain, `${each.seq} ${hashOf(each)}`]));
    const file = join(newDirectory(), 'domain.log');
    const lines = [{ msg: 'call' }, { msg: 'the newest audit records', heads }, { msg: 'call', heads: null }];
    writeFileSync(file, `no JSON\n${lines.map((line) => `${JSON.stringify(line)}\n`).join('')}`);
    return file;
  };

  test('that was cut off is not called whole: without anchors its end is not judged, with them it is missing', async () => {
    const { records, verified } = await exported();
    const [, second = 0, third = 0] = ofWhole(records);
    const { chain } = records[third] as AuditRecord;
    const cut = records.toSpliced(second, 2);
    const alone = await verified(cut);
    expect(alone.failure).toBeUndefined();
    expect(alone.text).toMatch(
      /^The records of the file are intact\. Whether records are missing at its end cannot be judged: --anchors was not given\./,
    );
    const anchors = logOf(records);
    expect((await verified(records, { anchors })).text).toMatch(
      /^The file is intact and reaches its anchors\. Anchored chains: \d\. .* Records read: \d+\.$/,
    );
    const compared = await verified(cut, { anchors });
    expect(compared.text).toBe(`missing: ${chain} 2 to 3`);
    expect(compared.failure?.message).toBe('The audit log is not intact. Findings: 1.');
    const gone = await verified(
      records.filter((each) => each.chain !== chain),
      { anchors },
    );
    expect(gone.text).toBe(`missing: ${chain} 1 to 3`);
  });

  test('is told of a record that differs from its anchor, and of anchors that cannot be read', async () => {
    const { records, verified } = await exported();
    const [, , third = 0] = ofWhole(records);
    const { chain, event } = records[third] as AuditRecord;
    const other = logOf(records, (each) => (each.chain === chain ? 'forged' : each.hash.slice(0, 32)));
    expect((await verified(records, { anchors: other })).text).toBe(`changed: ${chain} 3 ${event?.id}`);
    await expect(verified(records, { anchors: logOf([]) })).rejects.toThrow(/ has no log line /);
    await expect(verified(records, { file: undefined, anchors: other })).rejects.toThrow(/needs --file/);
  });

  /** A record that names this one as the newest of its chain. */
  const anchorOf = ({ chain, seq, hash }: AuditRecord, like: AuditRecord) =>
    withEvent(
      { ...like, chain: 'ach_other.00000000', seq: 1, previousHash: '' },
      { type: 'audit.anchored', attributes: [{ name: chain, value: `${seq} ${hash}` }] },
    );

  test('lacks what its own anchors name', async () => {
    const { records, verified } = await exported();
    const [, , third = 0] = ofWhole(records);
    const { chain } = records[third] as AuditRecord;
    const anchored = anchorOf(records[third] as AuditRecord, records.at(-1) as AuditRecord);
    const whole = await verified([...records, anchored]);
    expect(whole.json.findings.filter((each) => each.chain === chain)).toEqual([]);
    const { json } = await verified([...records.toSpliced(third, 1), anchored]);
    expect(json.findings).toContainEqual({ fault: AuditFault.MISSING, chain, fromSeq: 3, toSeq: 3 });
  });

  test('reaches its anchors although an earlier record of the chain stands at its end', async () => {
    const { records, findingsIn } = await exported();
    const [, second = 0, third = 0] = ofWhole(records);
    const [moved, newest] = [records[second], records[third]] as [AuditRecord, AuditRecord];
    const anchored = anchorOf(newest, records.at(-1) as AuditRecord);
    const findings = await findingsIn([...records.toSpliced(second, 1), anchored, moved]);
    expect(findings.filter(({ chain }) => chain === moved.chain)).toEqual([
      { fault: AuditFault.MISSING, chain: moved.chain, fromSeq: 2, toSeq: 2 },
      { fault: AuditFault.CHANGED, chain: moved.chain, fromSeq: 2, toSeq: 2, eventId: moved.event?.id },
    ]);
  });

  test('has findings that were investigated shown and not counted, and others counted', async () => {
    const { records, verified } = await exported();
    const [, second = 0, third = 0] = ofWhole(records);
    const changed = (at: number, all: readonly AuditRecord[]) =>
      all.with(at, withEvent(all[at] as AuditRecord, { type: 'unit.deleted' }));
    const first = await verified(changed(second, records));
    const known = join(newDirectory(), 'known.json');
    writeFileSync(known, asJsonLine(first.json));
    const again = await verified(changed(second, records), { known });
    expect(again.failure).toBeUndefined();
    expect(again.text).toMatch(
      /^known: changed: \S+ 2 aud_\w+\nThe records of the file are intact, but for known findings: 1\. /,
    );
    const more = await verified(changed(third, changed(second, records)), { known });
    expect(more.text).toMatch(/^known: changed: \S+ 2 aud_\w+\nchanged: \S+ 3 aud_\w+$/);
    expect(more.failure?.message).toBe('The audit log is not intact. Findings: 2, known: 1.');
    const spoilt = changed(second, records);
    const { first: purged, at } = ofPurged(spoilt);
    const put = { ...withEvent(purged, { id: 'aud_forged' }), seq: 2, hash: 'h', previousHash: '' };
    const unverified = await verified(spoilt.toSpliced(at, 0, put), { known });
    expect(unverified.failure?.message).toMatch(/^Records that could not be verified: 1\. /);
    writeFileSync(known, '[]');
    await expect(verified(records, { known })).rejects.toThrow(/is not what `integration audit verify/);
  });

  test('lacks in a chain whose beginning was purged what no purge removed, even if another claim is forged', async () => {
    const { records, findingsIn } = await exported();
    const { first, at } = ofPurged(records);
    const [, , last] = records.filter(({ chain }) => chain === first.chain) as AuditRecord[];
    const gap = records.toSpliced(at, 3, { ...(last as AuditRecord), previousHash: '' });
    const lacking = { fault: AuditFault.MISSING, chain: first.chain, fromSeq: 3, toSeq: 4 };
    expect(await findingsIn(gap)).toEqual([lacking]);
    const claim = records.find(({ event }) => event?.type === PURGED_TYPE) as AuditRecord;
    const forged = withEvent({ ...claim, chain: `forged.${claim.chain.split('.')[1]}` }, { attributes: [] });
    expect(await findingsIn([...gap, forged])).toContainEqual(lacking);
  });

  test.each<[what: string, spoil: (records: AuditRecord[]) => AuditRecord[], fault: AuditFault]>([
    [
      'a chain lacks a record where another chain was put',
      (records) => {
        const [, second = 0, third = 0] = ofWhole(records);
        const last = records[third] as AuditRecord;
        return [...records.filter((_, index) => index !== second && index !== third), last];
      },
      AuditFault.MISSING,
    ],
    [
      'a chain lacks its first record',
      (records) => records.toSpliced(ofWhole(records)[0] as number, 1),
      AuditFault.MISSING,
    ],
    [
      'a chain lacks its first record, as if that had been purged',
      (records) => {
        const [first = 0, second = 0] = ofWhole(records);
        const blanked = { ...(records[second] as AuditRecord), previousHash: '' };
        return records.with(second, blanked).toSpliced(first, 1);
      },
      AuditFault.MISSING,
    ],
    [
      'the first record after the purge says something else',
      (records) => {
        const { first, at } = ofPurged(records);
        return records.with(at, withEvent(first, { type: 'unit.deleted' }));
      },
      AuditFault.CHANGED,
    ],
    [
      'a record has a second value for an attribute, before its own',
      (records) => {
        const [, second = 0] = ofWhole(records);
        const record = records[second] as AuditRecord;
        const attributes = [{ name: 'fields', value: 'email' }, ...(record.event?.attributes ?? [])];
        return records.with(second, withEvent(record, { attributes }));
      },
      AuditFault.CHANGED,
    ],
    [
      'a purge is claimed by a record that the service did not make',
      (records) => {
        const [first = 0, second = 0] = ofWhole(records);
        const { chain } = records[first] as AuditRecord;
        const attributes = [
          { name: 'seq', value: '1' },
          { name: 'hash', value: 'h' },
          { name: 'proof', value: 'p' },
        ];
        const subject = { type: 'audit_chain', id: chain };
        const forged = withEvent(
          { ...(records[first] as AuditRecord), chain: `forged.${chain.split('.')[1]}`, seq: 7 },
          { type: PURGED_TYPE, subject, attributes },
        );
        const blanked = { ...(records[second] as AuditRecord), previousHash: '' };
        return [...records.with(second, blanked).toSpliced(first, 1), forged];
      },
      AuditFault.CHANGED,
    ],
  ])('is not intact if %s', async (_, spoil, fault) => {
    const { records, findingsIn } = await exported();
    expect(await findingsIn(spoil([...records]))).toContainEqual(expect.objectContaining({ fault }));
  });
});

const newRecord = (
  chain: string,
  seq: number,
  attributes: { name: string; value: string }[] = [],
): AuditRecord => ({
  ...{ chain, seq, hash: `hash ${seq}`, previousHash: seq === 1 ? '' : `hash ${seq - 1}` },
  event: {
    ...{ id: `aud_${chain}${seq}`, occurredAt: new Date(0), outcome: AuditOutcome.SUCCEEDED, attributes },
    ...{
      type: attributes.length > 0 ? 'audit.anchored' : 'unit.updated',
      actor: { type: 'service', id: 'x' },
    },
  },
});

test('a record that names more chains than a domain does lets an export ask for a hundred', () => {
  const chains = new ExportedChains();
  const attributes = Array.from({ length: 101 }, (_, index) => ({ name: `ach_${index}`, value: '1 hash' }));
  chains.take(newRecord('a', 1, attributes));
  expect(chains.ends()).toHaveLength(100);
});

test('an export has what its anchors name, also if that was recorded when its chain had been exported', async () => {
  const anchorOf = (chain: string, seq: number) => [{ name: chain, value: `${seq} hash ${seq}` }];
  const pages: Record<string, [records: AuditRecord[], nextPageToken: string]> = {
    '': [[newRecord('a', 1)], 'a/1'],
    'a/1': [[newRecord('b', 1)], 'b/1'],
    'b/1': [[newRecord('c', 1, anchorOf('a', 2)), newRecord('c', 2, anchorOf('?', 2))], ''],
  };
  /** What was recorded when the chain had been exported. */
  const later: typeof pages = {
    'a/1': [[newRecord('a', 2, anchorOf('b', 2)), newRecord('a', 3), newRecord('b', 1)], 'b/1'],
    'b/1': [[newRecord('b', 2), newRecord('c', 1)], 'c/1'],
  };
  const asked: string[] = [];
  const operator = {
    listAuditRecords: async ({ pageToken }: { pageToken: string }) => {
      const [records = [], nextPageToken = ''] = (asked.includes(pageToken) ? later : pages)[pageToken] ?? [];
      asked.push(pageToken);
      return { records, nextPageToken };
    },
  };
  const lines: AuditRecord[] = [];
  const written = jest.spyOn(process.stdout, 'write').mockImplementation((line) => {
    lines.push(JSON.parse(String(line)));
    return true;
  });
  await exportRecords({ operator } as never).finally(() => written.mockRestore());
  expect(lines.map(({ chain, seq }) => `${chain}/${seq}`)).toEqual([
    'a/1',
    'b/1',
    'c/1',
    'c/2',
    'a/2',
    'b/2',
  ]);
});

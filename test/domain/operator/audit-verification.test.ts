import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import {
  type AuditMac,
  type ChainedEvent,
  fingerprintOf,
  hashOf,
  PURGED_TYPE,
  purgeClaimOf,
} from '../../../src/domain/operator/audit-chain.js';
import { AuditVerification, verifyAuditLog } from '../../../src/domain/operator/audit-verification.js';

const mac: AuditMac = (bytes) => createHmac('sha256', 'key').update(bytes).digest();
const chainNamed = (name: string) => `ach_${name}.${fingerprintOf(mac)}`;

function next(
  { chain, seq, hash }: Pick<ChainedEvent, 'chain' | 'seq' | 'hash'>,
  content: Partial<ChainedEvent> = {},
): ChainedEvent {
  const event = {
    ...{
      id: `aud_${chain}_${seq + 1}`,
      createdAt: 1,
      type: 'instance.created',
      outcome: 'succeeded' as const,
    },
    ...{ actor: { type: 'service', id: 'purge' }, subject: null, requestId: null, remoteAddress: null },
    attributes: {},
    ...content,
  };
  const place = { chain, seq: seq + 1 };
  return { ...event, ...place, hash: hashOf(mac, event, place, hash) };
}

/** The record of a purge that removed all records up to this one. */
const purgeOf = ({ chain, seq, hash }: ChainedEvent): Partial<ChainedEvent> => ({
  type: PURGED_TYPE,
  subject: { type: 'audit_chain', id: chain },
  attributes: { seq: String(seq), hash, proof: purgeClaimOf(mac, { chain, seq, hash }).proof },
});

function findingsIn(...records: ChainedEvent[]) {
  const verification = new AuditVerification(mac);
  return [...records.flatMap((record) => verification.take(record)), ...verification.finish()];
}

describe('two purged chains, each of which begins with the record of the purge of the other', () => {
  const one = next({ chain: chainNamed('1'), seq: 0, hash: '' });
  const other = next({ chain: chainNamed('2'), seq: 0, hash: '' });
  const ofOne = next(one, purgeOf(other));
  const ofOther = next(other, purgeOf(one));

  test.each([
    ['in the order of the purges', [ofOne, ofOther]],
    ['in the other order', [ofOther, ofOne]],
  ])('are whole, read %s', (_, records) => {
    expect(findingsIn(...records)).toEqual([]);
  });

  test('are cut if the proof is not by our key', () => {
    const { attributes, ...rest } = ofOther;
    const forged = { ...rest, attributes: { ...attributes, proof: 'forged' } };
    expect(findingsIn(ofOne, forged).map(({ fault, chain }) => [fault, chain])).toEqual([
      ['missing', one.chain],
      ['changed', other.chain],
    ]);
  });
});

describe('a chain of which a purge removes records while it is read', () => {
  const begin = next({ chain: chainNamed('1'), seq: 0, hash: '' });
  const second = next(begin);
  const third = next(second);
  const last = next(third);
  const purged = (record: ChainedEvent) =>
    next({ chain: chainNamed('2'), seq: 0, hash: '' }, purgeOf(record));

  test('is whole if the purge reaches from the last record that was read to the next', () => {
    expect(findingsIn(begin, last, purged(third))).toEqual([]);
    expect(findingsIn(begin, last, purged(last))).toEqual([]);
  });

  test('lacks what is missing behind the place that the purge reached', () => {
    expect(findingsIn(begin, last, purged(second))).toEqual([
      { fault: 'missing', chain: begin.chain, fromSeq: 3, toSeq: 3 },
    ]);
    expect(findingsIn(begin, last)).toMatchObject([{ fault: 'missing', fromSeq: 2, toSeq: 3 }]);
  });

  test('is changed if the record behind the purge does not continue it', () => {
    const other = next({ ...third, hash: 'another' });
    expect(findingsIn(begin, other, purged(third))).toMatchObject([{ fault: 'changed', fromSeq: 4 }]);
  });

  test('is changed if a record is still there that the purge removed', async () => {
    const rows = {
      chained: async ({ after }: { after?: { chain: string; seq: number } | undefined }) =>
        [begin, last, purged(third)].filter(
          ({ chain, seq }) =>
            after === undefined || chain > after.chain || (chain === after.chain && seq > after.seq),
        ),
      misplaced: async () => [],
      unchained: async () => [],
    };
    const parts = [];
    for await (const { findings } of verifyAuditLog(rows, mac, new AbortController().signal)) {
      parts.push(...findings);
    }
    expect(parts).toMatchObject([{ fault: 'changed', chain: begin.chain, fromSeq: 1, toSeq: 1 }]);
  });
});

test('the verification of a long log lets other work have its turns', async () => {
  const log = [next({ chain: chainNamed('1'), seq: 0, hash: '' })];
  for (let last = log[0] as ChainedEvent; log.length < 2_000; log.push(last)) {
    last = next(last);
  }
  // As SQLite does, which answers at once.
  const rows = {
    chained: async ({ after, limit }: { after?: { seq: number } | undefined; limit: number }) =>
      log.slice(after?.seq ?? 0, (after?.seq ?? 0) + limit),
    misplaced: async () => [],
    unchained: async () => [],
  };
  let turns = 0;
  const turn = () => {
    turns += 1;
    coming = setImmediate(turn);
  };
  let coming = setImmediate(turn);
  let pages = 0;
  for await (const { findings } of verifyAuditLog(rows, mac, new AbortController().signal)) {
    expect(findings).toEqual([]);
    pages += 1;
  }
  clearImmediate(coming);
  expect(turns).toBeGreaterThanOrEqual(pages - 1);
});

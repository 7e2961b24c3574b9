import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { Observation } from '../../src/domain/operator/audit.js';
import { AuditTally } from '../../src/domain/operator/audit-tally.js';
import type { StoreWatch } from '../../src/store/database.js';
import { openStore } from '../../src/store/store.js';
import { describeEachDatabase, PATIENT } from '../support/databases.js';

const refused: Observation = {
  type: 'api_key.refused',
  outcome: 'refused',
  actor: { type: 'stranger', id: 'unknown' },
  subject: null,
  attributes: { reason: 'unknown' },
};
const opened: Observation = { ...refused, type: 'personal_data.read', outcome: 'succeeded' };

describeEachDatabase('a watched store', (under) => {
  const watched = async () => {
    const told = {
      recorded: [] as unknown[],
      committed: [] as number[],
      synced: 0,
      wrote: [] as string[],
      lent: [] as unknown[],
    };
    const watch: StoreWatch = {
      recorded: (...record) => told.recorded.push(record),
      committed: (writes) => told.committed.push(writes),
      synced: () => {
        told.synced += 1;
      },
      wrote: (outcome) => told.wrote.push(outcome),
      refused: () => undefined,
      lent: (pool, durationMs) => told.lent.push([pool, durationMs >= 0]),
      listens: () => undefined,
      notified: () => undefined,
      readFrom: () => undefined,
    };
    const place = await under.newPlace();
    const store = await openStore({ ...place, environment: 'demo', limits: PATIENT, watch });
    store.startAuditChains((bytes) => createHmac('sha256', 'key').update(bytes).digest(), {
      onBroken: () => undefined,
      onSpoiled: () => undefined,
    });
    told.wrote.length = 0;
    return { store, told };
  };

  test('tells each audit record after its commit, why it was refused, and how many acts one stands for', async () => {
    const { store, told } = await watched();
    const tally = new AuditTally(store.observations, Date.now);
    await tally.audit(opened);
    expect(told.recorded).toEqual([['personal_data.read', 'succeeded', 1, 'unknown']]);
    for (let times = 0; times < 3; times += 1) {
      tally.observe(refused);
    }
    await tally.flush();
    expect(told.recorded.slice(1)).toEqual([['api_key.refused', 'refused', 3, 'unknown']]);
    told.recorded.length = 0;
    const tight = new AuditTally(store.observations, Date.now, {
      observations: 1,
      ofStrangers: 1,
      ofOneParty: 1,
      reads: 1,
    });
    for (const reason of ['unknown', 'expired', 'revoked', 'revoked']) {
      tight.observe({ ...refused, attributes: { reason } });
    }
    await tight.flush();
    expect(told.recorded).toEqual([
      ['api_key.refused', 'refused', 1, 'unknown'],
      ['api_key.refused', 'refused', 3],
    ]);
    await store.close();
  });

  test('tells of each write whether it was committed, and nothing of records that were undone', async () => {
    const { store, told } = await watched();
    await store.observations.write([opened]);
    const undone = store.platform.run(async () => {
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(told.wrote).toEqual(['committed', 'undone']);
    expect(told.recorded).toHaveLength(1);
    await store.close();
  });

  if (under.kind === 'PostgreSQL') {
    test('tells each wait for a connection, by its pool', async () => {
      const { store, told } = await watched();
      told.lent.length = 0;
      await store.ping();
      await store.observations.write([opened]);
      expect(told.lent).toContainEqual(['probe', true]);
      expect(told.lent).toContainEqual(['writes', true]);
      expect(told.lent).not.toContainEqual(['reads', true]);
      await store.close();
    });
    return;
  }

  test('tells how many writes share a commit, and each sync', async () => {
    const { store, told } = await watched();
    const before = { commits: told.committed.length, syncs: told.synced };
    await Promise.all(Array.from({ length: 5 }, () => store.observations.write([opened])));
    const sizes = told.committed.slice(before.commits);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(5);
    expect(sizes.length).toBeLessThan(5);
    expect(told.synced).toBeGreaterThan(before.syncs);
    await store.close();
  });
});

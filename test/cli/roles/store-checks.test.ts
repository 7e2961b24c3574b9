import { expect, test } from '@jest/globals';
import { storeChecks } from '../../../src/cli/roles/domain-store.js';
import { encryptionKeyCheck } from '../../../src/cli/roles/keeping-keys.js';
import { Health } from '../../../src/telemetry/health.js';

const fine = {
  ping: async () => undefined,
  assertWritesTaken: () => undefined,
  schemaDrift: async () => ({ missing: [], newer: [], required: [] }),
};

const readinessOf = (store: Parameters<typeof storeChecks>[0]) => new Health(storeChecks(store)).readiness();

test('a domain that reads and writes in its own schema is ready', async () => {
  expect((await readinessOf(fine)).status).toBe('ready');
});

test('one that cannot write is unready, with the reason', async () => {
  const ping = () => Promise.reject(new Error('SQLITE_FULL: database or disk is full'));
  expect(await readinessOf({ ...fine, ping })).toMatchObject({
    status: 'unready',
    checks: { database: { ok: false, detail: 'SQLITE_FULL: database or disk is full' } },
  });
});

test('one that refuses a write is unready at once, also where the last trial write is not repeated yet', async () => {
  let refusal: Error | undefined;
  const assertWritesTaken = () => {
    if (refusal) {
      throw refusal;
    }
  };
  const health = new Health(storeChecks({ ...fine, assertWritesTaken }));
  expect((await health.readiness()).status).toBe('ready');
  refusal = new Error('Writes were refused recently (1)');
  expect(await health.readiness()).toMatchObject({
    status: 'unready',
    checks: { database: { ok: false, detail: 'Writes were refused recently (1)' } },
  });
});

test('one whose database lacks a migration is unready', async () => {
  const schemaDrift = async () => ({ missing: ['0009-x'], newer: [], required: [] });
  expect(await readinessOf({ ...fine, schemaDrift })).toMatchObject({
    status: 'unready',
    checks: { schema: { ok: false, detail: expect.stringContaining('0009-x') }, version: { ok: true } },
  });
});

test('one whose database a newer node has migrated is degraded: nodes are updated one after the other', async () => {
  const schemaDrift = async () => ({ missing: [], newer: ['9999-y'], required: [] });
  expect(await readinessOf({ ...fine, schemaDrift })).toMatchObject({
    status: 'degraded',
    checks: { schema: { ok: true }, version: { ok: false, detail: expect.stringContaining('9999-y') } },
  });
});

test('one whose database needs what only newer nodes know is unready', async () => {
  const schemaDrift = async () => ({ missing: [], newer: ['9998-x', '9999-y'], required: ['9998-x'] });
  expect(await readinessOf({ ...fine, schemaDrift })).toMatchObject({
    status: 'unready',
    checks: {
      schema: { ok: false, detail: 'The database needs a newer version; update this node: 9998-x.' },
    },
  });
});

test('concurrent checks share one write', async () => {
  let pings = 0;
  const ping = async () => {
    pings += 1;
  };
  const health = new Health(storeChecks({ ...fine, ping }));
  await Promise.all([health.readiness(), health.readiness()]);
  expect(pings).toBe(1);
});

test('one whose key file lacks the encryption key in use is unready, with what to do', async () => {
  const readiness = (lacking?: string) => new Health([encryptionKeyCheck({ lacking })]).readiness();
  expect(await readiness()).toEqual({ status: 'ready', checks: { 'encryption-key': { ok: true } } });
  const detail = 'The key file lacks ek_1, the key in use; copy it from another node.';
  expect(await readiness('ek_1')).toEqual({
    status: 'unready',
    checks: { 'encryption-key': { ok: false, detail } },
  });
});

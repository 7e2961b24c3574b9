import { expect, test } from '@jest/globals';
import type { ClientId, InstanceId, InstanceIntegrationId } from '../../../generated/ids.js';
import { sequenceOf } from '../../../src/domain/directory/changes.js';
import type { StoredChange } from '../../../src/domain/directory/stores.js';
import { cursors } from '../../support/changes/cursors.js';

const change: StoredChange = {
  ...{ type: 'worker', id: 'wrk_l50ycP5H6CnQHxa7Xt2y3d', clientId: 'cli_4Fqnh5226raKAAEIfY2jwW' as ClientId },
  ...{ position: 1_000_003, version: 481_730_294_553, removed: false, changedAt: 1 },
};

async function versionOf(found: readonly StoredChange[], life = '8c1f02d4a7b9'): Promise<string> {
  const changes = {
    lives: async () => ({ lives: [{ life, lastPosition: null }], end: 2_000_000 }),
    page: async () => found,
  };
  const visitor = { instanceId: 'ins_3p6PT9wVyh5HYgpDAJEJd8' as InstanceId };
  const asked = { instanceIntegrationId: 'iin_HnuQOy4YQg1OdOSCDbMAkY' as InstanceIntegrationId };
  const { version } = await sequenceOf({ changes, cursors } as never, visitor as never, asked);
  return version;
}

test('the version of a page is of its changes and their life', async () => {
  const version = await versionOf([change]);
  for (const other of [
    [],
    [change, change],
    [{ ...change, version: change.version + 1 }],
    [{ ...change, id: 'wrk_0000000000000000000000' }],
    [{ ...change, type: 'user' as const }],
  ]) {
    await expect(versionOf(other)).resolves.not.toBe(version);
  }
  await expect(versionOf([change], '000000000000')).resolves.not.toBe(version);
});

test('the version of a page discloses no positions, which a reader who knows the rest could guess', async () => {
  const elsewhere = { ...change, position: change.position + 1 };
  await expect(versionOf([elsewhere])).resolves.toBe(await versionOf([change]));
});

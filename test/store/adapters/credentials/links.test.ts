import { expect, test } from '@jest/globals';
import type { AccountLink } from '../../../../src/domain/credentials/links.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { signOnRig } from '../sign-on/rig.js';
import { newLink } from '../sign-on/samples.js';

describeEachDatabase('a mailed link', (under) => {
  async function rigWith(fields: Partial<AccountLink> = {}) {
    const rig = await signOnRig(under);
    const link = newLink(await rig.newAccount(), rig.now, fields);
    await rig.run(({ links }) => links.insert(link));
    return { ...rig, link, use: (at: number) => rig.run(({ links }) => links.use(link.tokenHash, at)) };
  }

  test('is returned unchanged kept, and by its own hash only', async () => {
    const { rows, link } = await rigWith({ purpose: 'verify_email' });
    await expect(rows.links.find(link.tokenHash)).resolves.toEqual(link);
    await expect(rows.links.find(link.tokenHash.toLowerCase())).resolves.toBeUndefined();
  });

  test('is used once, however many use it at once', async () => {
    const { yesesOf, rows, link, now } = await rigWith();
    await expect(yesesOf(50, ({ links }) => links.use(link.tokenHash, now + 1))).resolves.toBe(1);
    await expect(rows.links.find(link.tokenHash)).resolves.toEqual({ ...link, endedAt: now + 1 });
  });

  test.each([
    { what: 'up to its last moment', before: 1, used: true },
    { what: 'no longer when it is over', before: 0, used: false },
    { what: 'no longer after that', before: -1, used: false },
  ])('can be used $what', async ({ before, used }) => {
    const { use, link } = await rigWith();
    await expect(use(link.expiresAt - before)).resolves.toBe(used);
  });

  test('that was never sent cannot be used', async () => {
    const { run, now } = await rigWith();
    await expect(run(({ links }) => links.use('another', now))).resolves.toBe(false);
  });

  test('ends with others of its purpose and person, and only then', async () => {
    const { run, rows, link, newAccount, now } = await rigWith({ purpose: 'invitation' });
    const kept = [
      newLink(link.accountId, now, { purpose: 'verify_email' }),
      newLink(await newAccount(), now, { purpose: 'reset' }),
    ];
    const used = newLink(link.accountId, now, { purpose: 'reset', endedAt: now - 1 });
    await run(async ({ links }) => {
      for (const other of [...kept, used]) {
        await links.insert(other);
      }
      await links.endOfAccount(link.accountId, [], now);
    });
    await expect(rows.links.find(link.tokenHash)).resolves.toEqual(link);

    await run(({ links }) => links.endOfAccount(link.accountId, ['invitation', 'reset'], now + 2));
    await expect(rows.links.find(link.tokenHash)).resolves.toEqual({ ...link, endedAt: now + 2 });
    for (const other of [...kept, used]) {
      await expect(rows.links.find(other.tokenHash)).resolves.toEqual(other);
    }
    await expect(run(({ links }) => links.use(link.tokenHash, now))).resolves.toBe(false);
  });
});

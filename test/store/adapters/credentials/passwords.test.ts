import { expect, test } from '@jest/globals';
import { newPublicId } from '../../../../src/identifiers/public-id.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { signOnRig } from '../sign-on/rig.js';

describeEachDatabase('a password', (under) => {
  test('is there once it was set, and each later one takes its place', async () => {
    const { now, run, rows, newAccount } = await signOnRig(under);
    const [one, other] = [await newAccount(), await newAccount()];
    await expect(rows.passwords.find(one)).resolves.toBeUndefined();

    await run(({ passwords }) => passwords.set(one, '$argon2id$first', now));
    await run(({ passwords }) => passwords.set(one, '$argon2id$second', now + 1));
    await expect(rows.passwords.find(one)).resolves.toEqual({ hash: '$argon2id$second', setAt: now + 1 });
    await expect(rows.passwords.find(other)).resolves.toBeUndefined();
  });

  test('that many set at once for the first time is one of theirs', async () => {
    const { now, run, rows, newAccount } = await signOnRig(under);
    const id = await newAccount();
    const hashes = Array.from({ length: 20 }, (_, index) => `hash ${index}`);
    await Promise.all(hashes.map((hash) => run(({ passwords }) => passwords.set(id, hash, now))));
    expect(hashes).toContain((await rows.passwords.find(id))?.hash);
  });

  test('is undefined without an account', async () => {
    const { now, run } = await signOnRig(under);
    const setting = run(({ passwords }) => passwords.set(newPublicId('AccountId'), 'hash', now));
    await expect(setting).rejects.toMatchObject({ message: expect.stringMatching(/foreign key/i) });
  });
});

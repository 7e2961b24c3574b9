import { expect, test } from '@jest/globals';
import type { SigningKey } from '../../../../src/domain/sign-on/keys/signing-keys.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { signOnRig } from './rig.js';

describeEachDatabase('signing keys', (under) => {
  const newKey = (kid: string, createdAt: number, fields: Partial<SigningKey> = {}): SigningKey => ({
    kid,
    algorithm: 'ES256',
    publicJwk: { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' },
    sealedPrivateKey: 'sealed',
    createdAt,
    activatesAt: createdAt + 1,
    supersededAt: null,
    retiresAt: null,
    retiredAt: null,
    ...fields,
  });

  test('come back as they were kept, the newest first', async () => {
    const { run, rows, now } = await signOnRig(under);
    await expect(rows.signingKeys.all()).resolves.toEqual([]);
    const old = newKey('k1', now - 9, { supersededAt: now, retiresAt: now + 1, retiredAt: now + 2 });
    const twins = [newKey('k3', now, { algorithm: 'RS256' }), newKey('k2', now)];
    await run(async ({ signingKeys }) => {
      for (const key of [...twins, old]) {
        await signingKeys.insert(key);
      }
    });
    await expect(rows.signingKeys.all()).resolves.toEqual([...twins, old]);
  });

  test('change nothing but their times', async () => {
    const { run, rows, now } = await signOnRig(under);
    const [key, other] = [newKey('k2', now), newKey('k1', now)];
    const times = { activatesAt: now + 5, supersededAt: now + 6, retiresAt: now + 7, retiredAt: now + 8 };
    await run(async ({ signingKeys }) => {
      await signingKeys.insert(key);
      await signingKeys.insert(other);
      await signingKeys.update({ ...key, ...times, sealedPrivateKey: 'x', publicJwk: {}, createdAt: 0 });
    });
    await expect(rows.signingKeys.all()).resolves.toEqual([{ ...key, ...times }, other]);
  });

  test('have different names', async () => {
    const { run, rows, now } = await signOnRig(under);
    await run(({ signingKeys }) => signingKeys.insert(newKey('k1', now)));
    const again = run(({ signingKeys }) => signingKeys.insert(newKey('k1', now + 1)));
    await expect(again).rejects.toMatchObject({ message: expect.stringMatching(/unique/i) });
    await expect(rows.signingKeys.all()).resolves.toEqual([newKey('k1', now)]);
  });
});

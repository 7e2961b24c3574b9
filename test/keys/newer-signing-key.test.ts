import { expect, test } from '@jest/globals';
import { decodeProtectedHeader } from 'jose';
import { ensureSigningKeys, rotateSigningKeys } from '../../src/domain/sign-on/keys/key-rotation.js';
import { KeyRing, signingKeyMaker } from '../../src/keys/key-ring.js';
import { signOnUnitOfWork } from '../../src/store/adapters/sign-on/unit-of-work.js';
import { policy } from '../domain/sign-on/keys/rig.js';
import { describeEachDatabase } from '../support/databases.js';
import { box, ISSUER, keyOfNewerRelease } from './ring-rig.js';

describeEachDatabase('beside a signing key of an algorithm that only a newer release knows', (under) => {
  test('a domain starts, signs with keys of its own, and publishes that one too', async () => {
    const database = await under.openMigrated();
    const { clock } = database;
    const unitOfWork = signOnUnitOfWork(database);
    const newer = await keyOfNewerRelease();
    await unitOfWork.run(({ signingKeys }) => signingKeys.insert(newer));
    const ring = new KeyRing({
      ...{ issuer: ISSUER, box, clock, load: () => unitOfWork.rows.signingKeys.all() },
      onError: (error) => {
        throw error;
      },
    });
    // In the order of a start.
    await ring.ready();
    const maker = signingKeyMaker(box);
    await ensureSigningKeys({ unitOfWork, maker, policy, clock, changed: () => ring.reload() });
    await ring.ready();
    expect(decodeProtectedHeader(await ring.sign('ES256', 'JWT', {}))).toMatchObject({ alg: 'ES256' });
    const published = (await ring.publicKeys()).keys.map(({ publicJwk }) => publicJwk.alg);
    expect(published.sort()).toEqual(['ES256', 'EdDSA', 'PS256', 'RS256']);
    // After a leak, that one is withdrawn with the others.
    const rotation = { unitOfWork, maker, policy, clock, changed: () => ring.reload() };
    const custodian = { type: 'custodian', id: 'tok_1' };
    await rotateSigningKeys(rotation, custodian, { algorithms: ['ES256'], compromised: true });
    expect((await ring.publicKeys()).keys).toHaveLength(4);
    const keys = await rotateSigningKeys(rotation, custodian, { algorithms: [], compromised: true });
    expect(keys.find(({ kid }) => kid === newer.kid)).toMatchObject({ retiredAt: expect.any(Number) });
    expect((await ring.publicKeys()).keys).toHaveLength(3);
  });
});

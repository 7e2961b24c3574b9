import { expect, test } from '@jest/globals';
import { createApplication } from '../../../../src/domain/operator/applications.js';
import { rotateSecret } from '../../../../src/domain/operator/secret-rotation.js';
import { inNameOf } from '../../../../src/domain/unit-of-work.js';
import { hashSecret } from '../../../../src/identifiers/secret-hash.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { plantInstance } from '../../rows.js';
import { OPERATOR } from '../operator/rig.js';
import { signOnRig } from './rig.js';

describeEachDatabase('an application that is asked to prove itself', (under) => {
  async function rigWithApplication() {
    const rig = await signOnRig(under);
    const instances = [(await plantInstance(rig.database)).id, (await plantInstance(rig.database)).id];
    const operator = operatorUnitOfWork(rig.database, rig.clock.now);
    const created = await inNameOf(OPERATOR, operator).run((changes) =>
      createApplication(changes, 'demo', {
        name: 'Rota',
        type: 'confidential',
        firstParty: true,
        idTokenAlgorithm: 'EdDSA',
        tokenLifetimes: { accessTokenSeconds: 600 },
        redirectUris: instances.map((instanceId, index) => ({
          uri: `https://rota.example.com/${9 - index}`,
          instanceId,
        })),
      }),
    );
    return { ...rig, operator, ...created, find: () => rig.rows.applications.find(created.application.id) };
  }

  test('is as operators see it, with what its secrets are recognised by', async () => {
    const { operator, application, clientSecret, find, rows, run } = await rigWithApplication();
    const seen = await operator.rows.applications.find(application.id);
    const secrets = seen?.secrets.map((secret) => ({
      ...secret,
      hash: hashSecret(clientSecret as string).toString('base64url'),
    }));
    await expect(find()).resolves.toEqual({ ...seen, secrets });
    await expect(run(({ applications }) => applications.find(application.id))).resolves.toEqual({
      ...seen,
      secrets,
    });
    await expect(rows.applications.find('app_unknown')).resolves.toBeUndefined();
  });

  test('has every secret during a rotation, the oldest first', async () => {
    const { operator, application, clock, find } = await rigWithApplication();
    clock.advance(5);
    const rotation = await inNameOf(OPERATOR, operator).run((changes) =>
      rotateSecret(changes, 'demo', { applicationId: application.id, overlapSeconds: 1 }),
    );
    const secrets = (await find())?.secrets ?? [];
    expect(secrets.map(({ expiresAt }) => expiresAt)).toEqual([clock.now() + 1_000, null]);
    expect(secrets[1]?.hash).toBe(hashSecret(rotation.clientSecret).toString('base64url'));
  });

  test('notes the use of a secret, unless it was noted lately', async () => {
    const { find, run, now } = await rigWithApplication();
    const secretId = (await find())?.secrets[0]?.id as string;
    const use = (at: number, unlessSince: number) =>
      run(({ applications }) => applications.markSecretUsed(secretId, at, unlessSince));
    const lastUse = async () => (await find())?.secrets[0]?.lastUsedAt;
    await expect(lastUse()).resolves.toBeNull();
    await use(now, now - 60);
    await expect(lastUse()).resolves.toBe(now);
    await use(now + 60, now);
    await expect(lastUse()).resolves.toBe(now);
    await use(now + 61, now + 1);
    await expect(lastUse()).resolves.toBe(now + 61);
  });
});

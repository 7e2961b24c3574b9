import { expect, test } from '@jest/globals';
import type { InstanceId } from '../../../../generated/ids.js';
import {
  type ApplicationCreation,
  createApplication,
  rotateSecret,
  setApplicationEnabled,
} from '../../../../src/domain/operator/applications.js';
import { inNameOf } from '../../../../src/domain/unit-of-work.js';
import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { plantAccount, plantClient, plantUser, plantWorker } from '../../directory-rows.js';
import { plantInstance } from '../../rows.js';
import { OPERATOR } from '../operator/rig.js';
import { signOnRig } from './rig.js';

describeEachDatabase('an application that is asked to prove itself', (under) => {
  async function rigWithApplication() {
    const rig = await signOnRig(under);
    const instances = [(await plantInstance(rig.database)).id, (await plantInstance(rig.database)).id];
    const operator = operatorUnitOfWork({ ...rig.database, clock: rig.clock.now });
    const create = (fields: Partial<ApplicationCreation>, returnsTo: readonly InstanceId[] = instances) =>
      inNameOf(OPERATOR, operator).run((changes) =>
        createApplication(changes, 'demo', {
          name: 'Rota',
          type: 'confidential',
          firstParty: true,
          idTokenAlgorithm: 'EdDSA',
          tokenLifetimes: { accessTokenSeconds: 600 },
          redirectUris: returnsTo.map((instanceId, index) => ({
            uri: `https://rota.example.com/${9 - index}`,
            instanceId,
          })),
          ...fields,
        }),
      );
    const created = await create({});
    const find = () => rig.rows.applications.find(created.application.id);
    return { ...rig, operator, instances, create, ...created, find };
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

  test('is a way in for the people of its instances, first where it says where signing in begins', async () => {
    const { operator, application, run, rows, database, instances, create } = await rigWithApplication();
    const [here, there] = instances as [InstanceId, InstanceId];
    const { id: elsewhere } = await plantInstance(database);
    const person = await plantAccount(database);
    const ways = (limit = 5) => rows.applications.entrancesOf(person.id, limit);
    expect(await ways()).toEqual([]);
    const [joined, left] = [
      await plantClient(database, { instance_id: here }),
      await plantClient(database, { instance_id: there }),
    ];
    await plantUser(database, { account_id: person.id, client_id: joined.id });
    await plantWorker(database, { account_id: person.id, client_id: left.id, offboarded_at: 1 });
    const known = { applicationId: application.id, instanceId: here };
    expect(await ways()).toEqual([known]);
    const { application: led } = await create({ initiateLoginUri: 'https://led.example.com/' }, [here]);
    await create({}, [elsewhere]);
    const first = { applicationId: led.id, instanceId: here };
    expect(await ways()).toEqual([first, known]);
    expect(await run(({ applications }) => applications.entrancesOf(person.id, 1))).toEqual([first]);
    await inNameOf(OPERATOR, operator).run((changes) => setApplicationEnabled(changes, led.id, false));
    expect(await ways()).toEqual([known]);
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

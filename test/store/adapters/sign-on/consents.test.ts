import { expect, test } from '@jest/globals';
import type { ConsentKey } from '../../../../src/domain/credentials/access.js';
import { createApplication } from '../../../../src/domain/operator/applications.js';
import { createInstance } from '../../../../src/domain/platform/organization/instances.js';
import { inNameOf } from '../../../../src/domain/unit-of-work.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { OPERATOR } from '../operator/rig.js';
import { signOnRig } from './rig.js';

describeEachDatabase('a consent', (under) => {
  async function rigWithApplications() {
    const rig = await signOnRig(under);
    const operator = operatorUnitOfWork(rig.database);
    const newApplication = async () => {
      const creation = { name: 'Rota', type: 'public' as const, redirectUris: [], firstParty: false };
      const work = inNameOf(OPERATOR, operator).run((changes) =>
        createApplication(changes, 'demo', creation),
      );
      return (await work).application.id;
    };
    const newPlace = async () =>
      (await rig.run((changes) => createInstance(changes, { name: 'Harborlight' }))).id;
    const key: ConsentKey = {
      accountId: await rig.newAccount(),
      applicationId: await newApplication(),
      instanceId: await newPlace(),
    };
    return { ...rig, key, newApplication, newPlace };
  }

  test('covers the approved scopes, for one person, one application and one instance', async () => {
    const { run, rows, key, newApplication, newPlace, newAccount, now } = await rigWithApplications();
    const [neighbour, another, there] = [await newAccount(), await newApplication(), await newPlace()];
    await expect(rows.consents.find(key)).resolves.toEqual([]);

    await run(({ consents }) => consents.give(key, ['openid', 'email', 'openid'], now));
    await expect(rows.consents.find(key)).resolves.toEqual(['openid', 'email']);
    await expect(rows.consents.find({ ...key, accountId: neighbour })).resolves.toEqual([]);
    await expect(rows.consents.find({ ...key, applicationId: another })).resolves.toEqual([]);
    await expect(rows.consents.find({ ...key, instanceId: there })).resolves.toEqual([]);
  });

  test('can be withdrawn, for one person, one application and one instance', async () => {
    const { run, rows, key, newApplication, newPlace, newAccount, now } = await rigWithApplications();
    const others = [
      { ...key, accountId: await newAccount() },
      { ...key, applicationId: await newApplication() },
      { ...key, instanceId: await newPlace() },
    ];
    for (const each of [key, ...others]) {
      await run(({ consents }) => consents.give(each, ['openid'], now));
    }
    expect(await run(({ consents }) => consents.withdraw(key))).toBe(true);
    expect(await run(({ consents }) => consents.withdraw(key))).toBe(false);
    await expect(rows.consents.find(key)).resolves.toEqual([]);
    for (const other of others) {
      await expect(rows.consents.find(other)).resolves.toEqual(['openid']);
    }
  });

  test('can grow, and never loses scopes', async () => {
    const { run, rows, key, now } = await rigWithApplications();
    for (const scopes of [['openid', 'email'], ['openid'], ['profile', 'email']]) {
      await run(({ consents }) => consents.give(key, scopes, now));
    }
    await expect(rows.consents.find(key)).resolves.toEqual(['openid', 'email', 'profile']);
  });

  test('given in many pages at once has what was approved in each', async () => {
    const { run, rows, key, now } = await rigWithApplications();
    const scopes = Array.from({ length: 20 }, (_, index) => `scope-${index}`);
    await Promise.all(scopes.map((scope) => run(({ consents }) => consents.give(key, [scope], now))));
    expect([...(await rows.consents.find(key))].sort()).toEqual([...scopes].sort());
  });
});

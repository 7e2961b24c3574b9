import { expect, test } from '@jest/globals';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { tokenAuthenticator } from '../../../../src/cli/roles/domain-listeners.js';
import { createServiceToken, rotateServiceToken } from '../../../../src/domain/operator/service-tokens.js';
import { inNameOf } from '../../../../src/domain/unit-of-work.js';
import { platformService } from '../../../../src/rpc/domain-server/platform/index.js';
import { serviceTokenStore } from '../../../../src/store/adapters/access.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { OPERATOR } from '../../../store/adapters/operator/rig.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { platformDependencies } from '../../../support/platform-dependencies.js';
import { recordedLog } from '../../../support/recorded-log.js';
import { rpcRigs } from '../../rig.js';

describeEachDatabase('an idempotency key', (under) => {
  const rigs = rpcRigs();

  async function platformOfTokens() {
    const database = await under.openMigrated();
    const operator = operatorUnitOfWork({ ...database, clock: Date.now });
    const store = { serviceTokens: serviceTokenStore(database), clock: database.clock };
    const authenticate = tokenAuthenticator(store, recordedLog().log);
    const rig = await rigs.start([platformService(platformDependencies(platformUnitOfWork(database)))], {
      authenticate,
    });
    const issue = (instanceId?: string) =>
      inNameOf(OPERATOR, operator).run((changes) =>
        createServiceToken(changes, 'live', { kind: 'platform', label: 'Back office', instanceId }),
      );
    const succeed = (serviceTokenId: string) =>
      inNameOf(OPERATOR, operator).run((changes) =>
        rotateServiceToken(changes, 'live', { serviceTokenId, overlapSeconds: 60 }),
      );
    const createInstance = async (token: string) => {
      const request = { name: 'Harborlight', idempotencyKey: 'once' };
      const { instance } = await rig
        .channel(token)
        .clientOf(methods)
        .createInstance(request, { requestId: 'r', deadlineMs: 20_000 });
      return instance?.id;
    };
    return { database, rig, issue, succeed, createInstance };
  }

  test('also answers every successor of its token, and no other token', async () => {
    const { issue, succeed, createInstance } = await platformOfTokens();
    const first = await issue();
    const made = await createInstance(first.token);
    const second = await succeed(first.serviceToken.id);
    const third = await succeed(second.serviceToken.id);
    expect(await createInstance(second.token)).toBe(made);
    expect(await createInstance(third.token)).toBe(made);
    expect(await createInstance(first.token)).toBe(made);
    expect(await createInstance((await issue()).token)).not.toBe(made);
  });

  test('of before keys had owners answers tokens of all instances, and none of one', async () => {
    const { database, rig, issue, createInstance } = await platformOfTokens();
    const whole = (await issue()).token;
    const instanceId = (await createInstance(whole)) as string;
    const createClient = async (token: string) => {
      const request = { instanceId, name: 'Tallowfern', idempotencyKey: 'old' };
      const options = { requestId: 'r', deadlineMs: 20_000 };
      return (await rig.channel(token).clientOf(methods).createClient(request, options)).client?.id;
    };
    const made = await createClient(whole);
    await database.write((writer) => writer.updateTable('idempotency_keys').set({ owner_id: '' }).execute());
    expect(await createClient((await issue()).token)).toBe(made);
    const limited = (await issue(instanceId)).token;
    const own = await createClient(limited);
    expect(own).not.toBe(made);
    expect(await createClient(limited)).toBe(own);
    expect(await createClient(whole)).toBe(made);
  });
});

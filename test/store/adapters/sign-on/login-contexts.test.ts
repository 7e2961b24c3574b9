import { expect, test } from '@jest/globals';
import type { LoginContext } from '../../../../src/domain/sign-on/interaction/login-contexts.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { plantClient } from '../../directory-rows.js';
import { signOnRig } from './rig.js';

describeEachDatabase('the last login context', (under) => {
  test('is that of the last sign-in, of one person on one instance', async () => {
    const { database, run, rows, now, newAccount } = await signOnRig(under);
    const [person, neighbour] = [await newAccount(), await newAccount()];
    const here = await plantClient(database);
    const alsoHere = await plantClient(database, { instance_id: here.instanceId });
    const elsewhere = await plantClient(database);
    const remember = (context: LoginContext, instanceId = here.instanceId) =>
      run(({ loginContexts }) => loginContexts.remember(person, instanceId, context, now));
    const lastOf = async (accountId = person, instanceId = here.instanceId) =>
      (await rows.identities.find(accountId, instanceId))?.lastContext;
    expect(await lastOf()).toBeUndefined();

    const last: LoginContext = { userType: 'WORKER', clientId: alsoHere.id };
    await remember({ userType: 'USER', clientId: here.id });
    await remember({ userType: 'USER', clientId: elsewhere.id }, elsewhere.instanceId);
    await remember(last);
    expect(await lastOf()).toEqual(last);
    expect(await lastOf(neighbour)).toBeUndefined();
    expect(await lastOf(person, elsewhere.instanceId)).toEqual({ userType: 'USER', clientId: elsewhere.id });
  });

  test('remembered many times at once is one of them', async () => {
    const { database, run, rows, now, newAccount } = await signOnRig(under);
    const person = await newAccount();
    const { id, instanceId } = await plantClient(database);
    const types = ['USER', 'WORKER'] as const;
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        run(({ loginContexts }) =>
          loginContexts.remember(
            person,
            instanceId,
            { userType: types[index % 2] as 'USER', clientId: id },
            now,
          ),
        ),
      ),
    );
    expect(types).toContain((await rows.identities.find(person, instanceId))?.lastContext?.userType);
  });
});

import { describe, expect, test } from '@jest/globals';
import { createClient } from '../../../../src/domain/platform/organization/clients.js';
import { deleteUser, updateUser } from '../../../../src/domain/platform/people/user-updates.js';
import { createUser, type UserCreation } from '../../../../src/domain/platform/people/users.js';
import { offboardWorker, onboardWorker } from '../../../../src/domain/platform/people/worker-changes.js';
import { revokeToken } from '../../../../src/domain/sign-on/tokens/revoke.js';
import type { VerifiedAccessToken } from '../../../../src/domain/sign-on/tokens/standing.js';
import { readUserinfo } from '../../../../src/domain/sign-on/tokens/userinfo.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { randomText, verifiedAccessToken } from '../token-keys.js';
import {
  activate,
  exchangeCode,
  hired,
  newApplication,
  newCode,
  newPlace,
  signedIn,
  type TokenRig,
  tokenRig,
} from '../token-rig.js';
import { narrowTo, WITHDRAWALS } from './withdrawals.js';

async function tokenOf(rig: TokenRig, scopes: string[]): Promise<VerifiedAccessToken> {
  const { accessToken } = await signedIn(rig, { scopes });
  return verifiedAccessToken(rig.keys, rig.clock.now, accessToken);
}

function always({ accountId, application, user, clientId }: TokenRig) {
  return {
    sub: accountId,
    aud: application.id,
    workerProfileId: expect.stringMatching(/^wpf_/),
    userIds: [{ id: user.id, clientId }],
    workerIds: [],
    lastLoginContext: { userType: 'USER', clientId },
  };
}

const NAMES = {
  name: 'Ada Moreau',
  firstName: 'Ada',
  lastName: 'Moreau',
  given_name: 'Ada',
  family_name: 'Moreau',
};

describe('userinfo', () => {
  const under = databaseUnderTest('SQLite');

  test.each([
    { scopes: ['openid'], shown: () => ({}) },
    {
      scopes: ['openid', 'profile'],
      shown: () => NAMES,
    },
    {
      scopes: ['openid', 'email'],
      shown: ({ user }: TokenRig) => ({ email: user.email, email_verified: false }),
    },
    {
      scopes: ['openid', 'profile', 'email'],
      shown: ({ user }: TokenRig) => ({
        ...NAMES,
        email: user.email,
        email_verified: false,
      }),
    },
  ])('shows for $scopes what they show, and what is always shown', async ({ scopes, shown }) => {
    const rig = await tokenRig(under);
    const claims = await readUserinfo(rig.issuer, await tokenOf(rig, scopes));
    expect(claims).toEqual({ ...always(rig), ...shown(rig) });
  });

  test('says the same as the ID token, but for what is about the token', async () => {
    const rig = await tokenRig(under);
    const { exchange } = await newCode(rig, { nonce: 'n' });
    const { accessToken, idToken } = await exchangeCode(rig.issuer, rig.application.client, exchange);
    const payload = Buffer.from((idToken as string).split('.')[1] as string, 'base64url').toString();
    const { iss, iat, exp, auth_time, nonce, acr, at_hash, ...claims } = JSON.parse(payload);
    const token = await verifiedAccessToken(rig.keys, rig.clock.now, accessToken);
    expect(await readUserinfo(rig.issuer, token)).toEqual(claims);
  });

  test.each([
    { names: { firstName: 'Ada' }, shown: { name: 'Ada', firstName: 'Ada', given_name: 'Ada' } },
    {
      names: { lastName: 'Moreau' },
      shown: { name: 'Moreau', lastName: 'Moreau', family_name: 'Moreau' },
    },
    { names: {}, shown: {} },
  ])('leaves out the names that are not known of $names', async ({ names, shown }) => {
    const rig = await tokenRig(under);
    const creation: UserCreation = { clientId: rig.clientId, email: 'x@example.com', withoutManager: true };
    const user = await rig.issuer.unitOfWork.run((changes) => createUser(changes, { ...creation, ...names }));
    await activate(rig.issuer.unitOfWork, user);
    const nameless = { ...rig, user, accountId: user.accountId };
    const claims = await readUserinfo(rig.issuer, await tokenOf(nameless, ['openid', 'profile']));
    expect(claims).toEqual({ ...always(nameless), ...shown });
  });

  test('shows the names that the gateway shows of the user or worker signed in as, and those of no other tenant', async () => {
    const rig = await tokenRig(under);
    const { issuer, accountId, instanceId, clientId, user } = rig;
    const run = issuer.unitOfWork.run;
    const token = await tokenOf(rig, ['openid', 'profile']);
    const second = await run((changes) => createClient(changes, { instanceId, name: 'Quillmere' }));
    const email = user.email;
    await run((changes) =>
      createUser(changes, { clientId: second.id, email, firstName: 'A.', withoutManager: true }),
    );
    await run((changes) =>
      onboardWorker(changes, {
        ...{ clientId, email, firstName: 'Adelaide', lastName: 'Moreau-Lind' },
        ...{ jobTitles: [], unitIds: [] },
      }),
    );
    await run((changes) => updateUser(changes, { userId: user.id, lastName: 'Lind' }));
    const shown = async (userType: 'USER' | 'WORKER', at: typeof second.id) => {
      await run(({ loginContexts }) =>
        loginContexts.remember(accountId, instanceId, { userType, clientId: at }, 1),
      );
      const { name, firstName, lastName } = await readUserinfo(issuer, token);
      return { name, firstName, lastName };
    };
    const asUser = { name: 'Ada Lind', firstName: 'Ada', lastName: 'Lind' };
    expect(await shown('USER', clientId)).toEqual(asUser);
    expect(await shown('USER', second.id)).toEqual({ name: 'A.', firstName: 'A.', lastName: undefined });
    const asWorker = { name: 'Adelaide Moreau-Lind', firstName: 'Adelaide', lastName: 'Moreau-Lind' };
    expect(await shown('WORKER', clientId)).toEqual(asWorker);
  });

  test.each(['USER', 'WORKER'] as const)(
    'is not needed for the names of the %s in the ID token',
    async (userType) => {
      const rig = await tokenRig(under);
      await hired(rig);
      await rig.issuer.unitOfWork.run((changes) =>
        updateUser(changes, { userId: rig.user.id, firstName: 'Augusta' }),
      );
      const { exchange } = await newCode(rig, { context: { userType, clientId: rig.clientId } });
      const { idToken } = await exchangeCode(rig.issuer, rig.application.client, exchange);
      const payload = Buffer.from((idToken as string).split('.')[1] as string, 'base64url').toString();
      const firstName = userType === 'USER' ? 'Augusta' : 'Ada';
      expect(JSON.parse(payload)).toMatchObject({
        firstName,
        lastName: 'Moreau',
        name: `${firstName} Moreau`,
      });
    },
  );

  test('says that an address was verified, and shows a changed one at once', async () => {
    const rig = await tokenRig(under);
    const token = await tokenOf(rig, ['openid', 'email']);
    await rig.database.write((writer) =>
      writer
        .updateTable('accounts')
        .set({ email: 'new@example.com', email_verified_at: 1 })
        .where('id', '=', rig.accountId)
        .execute(),
    );
    const claims = await readUserinfo(rig.issuer, token);
    expect(claims).toMatchObject({ email: 'new@example.com', email_verified: true });
  });

  test('shows the instance of the sign-in and no other', async () => {
    const rig = await tokenRig(under);
    const elsewhere = await newPlace(rig.issuer);
    await rig.issuer.unitOfWork.run((changes) =>
      createUser(changes, { clientId: elsewhere.clientId, email: rig.user.email, withoutManager: true }),
    );
    expect(await readUserinfo(rig.issuer, await tokenOf(rig, ['openid']))).toEqual(always(rig));
  });

  test('remembers the last context as long as it lets the person in, and falls back to the oldest', async () => {
    const rig = await tokenRig(under);
    const { issuer, accountId, instanceId } = rig;
    const token = await tokenOf(rig, ['openid']);
    const second = await issuer.unitOfWork.run((changes) =>
      createClient(changes, { instanceId, name: 'Quillmere' }),
    );
    rig.clock.advance(1);
    const contextOf = async () => (await readUserinfo(issuer, token)).lastLoginContext;
    const remember = (userType: 'USER' | 'WORKER', clientId: typeof second.id) =>
      issuer.unitOfWork.run(({ loginContexts }) =>
        loginContexts.remember(accountId, instanceId, { userType, clientId }, 1),
      );
    const oldest = { userType: 'USER', clientId: rig.clientId };
    expect(await contextOf()).toEqual(oldest);
    await remember('USER', second.id);
    expect(await contextOf()).toEqual(oldest);
    await issuer.unitOfWork.run((changes) =>
      createUser(changes, { clientId: second.id, email: rig.user.email, withoutManager: true }),
    );
    expect(await contextOf()).toEqual({ userType: 'USER', clientId: second.id });
    await remember('WORKER', second.id);
    expect(await contextOf()).toEqual(oldest);
  });

  test('names a user who is only invited where there is no other context', async () => {
    const rig = await tokenRig(under);
    const { issuer, instanceId, user } = rig;
    const run = issuer.unitOfWork.run;
    const token = await tokenOf(rig, ['openid']);
    rig.clock.advance(1);
    const { id: invited } = await run((changes) => createClient(changes, { instanceId, name: 'Quillmere' }));
    const creation = { clientId: invited, email: user.email, withoutManager: true };
    await run((changes) => createUser(changes, creation));
    await hired(rig);
    await run((changes) => deleteUser(changes, { userId: user.id }));
    const contextOf = async () => (await readUserinfo(issuer, token)).lastLoginContext;
    expect(await contextOf()).toEqual({ userType: 'WORKER', clientId: rig.clientId });
    const [worker] = await run(({ workers }) => workers.ofAccount(rig.accountId));
    await run((changes) => offboardWorker(changes, { workerId: worker?.id as string }));
    expect(await contextOf()).toEqual({ userType: 'USER', clientId: invited });
  });

  test.each([['email'], ['profile', 'email']])('is refused to a token with %j alone', async (...scopes) => {
    const rig = await tokenRig(under);
    const refusal = refusalOf(readUserinfo(rig.issuer, await tokenOf(rig, scopes)));
    expect(await refusal).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
  });

  test('is refused once the application may not use openid any more', async () => {
    const rig = await tokenRig(under);
    const token = await tokenOf(rig, ['openid', 'email']);
    await narrowTo(rig, ['email']);
    expect(await refusalOf(readUserinfo(rig.issuer, token))).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
  });

  test.each(WITHDRAWALS)('is refused when $title', async ({ prepare, withdraw }) => {
    const rig = await tokenRig(under);
    await prepare?.(rig);
    const token = await tokenOf(rig, ['openid']);
    expect(await readUserinfo(rig.issuer, token)).toHaveProperty('sub');
    await withdraw(rig);
    expect(await refusalOf(readUserinfo(rig.issuer, token))).toMatchObject({ code: 'INVALID_TOKEN' });
  });

  test.each<[string, (rig: TokenRig) => Promise<Partial<VerifiedAccessToken>>]>([
    ['signed with a key that was withdrawn', async () => ({ kid: 'withdrawn' })],
    ['of a grant that never was', async () => ({ grantId: randomText(16) })],
    ['of an application that never was', async () => ({ clientId: 'app_never' })],
    [
      'of another application than its grant',
      async ({ issuer, database, instanceId }) => {
        return { clientId: (await newApplication(issuer, database, instanceId)).id };
      },
    ],
    [
      'of another person than its grant',
      async ({ issuer }) => {
        return { accountId: (await newPlace(issuer)).accountId };
      },
    ],
    ['that ends in this millisecond', async ({ clock }) => ({ expiresAt: clock.now() })],
  ])('is refused to a token %s', async (_, fieldsOf) => {
    const rig = await tokenRig(under);
    const token = { ...(await tokenOf(rig, ['openid'])), ...(await fieldsOf(rig)) };
    expect(await refusalOf(readUserinfo(rig.issuer, token))).toMatchObject({ code: 'INVALID_TOKEN' });
  });

  test('is refused to a token of a revoked grant', async () => {
    const rig = await tokenRig(under);
    const token = await tokenOf(rig, ['openid']);
    await revokeToken(rig.issuer, rig.application.client, { kind: 'access', token });
    expect(await refusalOf(readUserinfo(rig.issuer, token))).toMatchObject({ code: 'INVALID_TOKEN' });
  });
});

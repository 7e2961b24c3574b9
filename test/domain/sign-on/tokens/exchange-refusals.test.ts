import { describe, expect, test } from '@jest/globals';
import {
  type ApplicationCreation,
  addRedirectUri,
  removeRedirectUri,
} from '../../../../src/domain/operator/applications.js';
import { deleteUser } from '../../../../src/domain/platform/people/user-updates.js';
import {
  type AuthorizationCode,
  CODE_LIFETIME_MS,
} from '../../../../src/domain/sign-on/authorization/codes.js';
import type { CodeExchange } from '../../../../src/domain/sign-on/tokens/exchange-code.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import {
  audited,
  exchangeCode,
  grantOf,
  hired,
  newApplication,
  newCode,
  newPlace,
  operate,
  type TokenRig,
  tokenRig,
} from '../token-rig.js';
import { narrowTo, WITHDRAWALS, withPkce } from './withdrawals.js';

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

interface Refused {
  title: string;
  application?: Partial<ApplicationCreation>;
  code?: Partial<AuthorizationCode>;
  exchange?: Partial<CodeExchange>;
  meanwhile?: (rig: TokenRig) => Promise<unknown>;
  error: string;
  /** On record; absent where no code is named. */
  reason?: string;
}

const challenged = { codeChallenge: CHALLENGE };

const REFUSED: readonly Refused[] = [
  { title: 'an unknown code', exchange: { codeHash: Buffer.alloc(32) }, error: 'INVALID_GRANT' },
  { title: 'a code that is no hash', exchange: { codeHash: Buffer.alloc(0) }, error: 'INVALID_GRANT' },
  {
    title: 'the code of another application',
    code: { applicationId: 'app_other' },
    error: 'INVALID_GRANT',
    reason: 'application',
  },
  {
    title: 'a code that was moved to EXPIRED',
    code: { status: 'EXPIRED' },
    error: 'INVALID_GRANT',
    reason: 'expired',
  },
  {
    title: 'a code that has just expired',
    meanwhile: async ({ clock }) => clock.advance(CODE_LIFETIME_MS),
    error: 'INVALID_GRANT',
    reason: 'expired',
  },
  ...[
    ['without its redirect URI', ''],
    ['with a trailing slash too many', 'https://portal.example.com/callback/'],
    ['with a query too many', 'https://portal.example.com/callback?'],
    ['with its host in capitals', 'https://PORTAL.example.com/callback'],
    ['with a port that goes without saying', 'https://portal.example.com:443/callback'],
    ['with another registered redirect URI', 'https://portal.example.com/other'],
  ].map(([how, redirectUri]) => ({
    title: `a code ${how}`,
    exchange: { redirectUri },
    error: 'INVALID_GRANT',
    reason: 'redirect_uri',
  })),
  {
    title: 'no verifier where there was a challenge',
    code: challenged,
    error: 'INVALID_GRANT',
    reason: 'code_verifier',
  },
  {
    title: 'a verifier where there was no challenge',
    exchange: { codeVerifier: VERIFIER },
    error: 'INVALID_GRANT',
    reason: 'code_verifier',
  },
  {
    title: 'the verifier of another challenge',
    code: challenged,
    exchange: { codeVerifier: VERIFIER.replace('d', 'e') },
    error: 'INVALID_GRANT',
    reason: 'code_verifier',
  },
  {
    title: 'the challenge itself as its verifier',
    code: challenged,
    exchange: { codeVerifier: CHALLENGE },
    error: 'INVALID_GRANT',
    reason: 'code_verifier',
  },
  ...[
    ['of 42 characters', 'a'.repeat(42)],
    ['of 129 characters', 'a'.repeat(129)],
    ['that is empty', ''],
    ['with a character of another alphabet', `${'a'.repeat(42)}+`],
    ['with a NUL', `${'a'.repeat(43)}\0`],
    ['with a line break behind it', `${VERIFIER}\n`],
  ].map(([how, codeVerifier]) => ({
    title: `a verifier ${how}`,
    code: challenged,
    exchange: { codeVerifier },
    error: 'INVALID_REQUEST',
    reason: 'code_verifier',
  })),
  {
    title: 'a public application with a code without challenge',
    application: { type: 'public' },
    error: 'INVALID_GRANT',
    reason: 'code_verifier',
  },
  {
    title: 'a code without a challenge once the application must use PKCE',
    meanwhile: withPkce,
    error: 'INVALID_GRANT',
    reason: 'code_verifier',
  },
  {
    title: 'a code with a redirect URI that the operator removed',
    meanwhile: async (rig) => {
      const [applicationId, uri] = [rig.application.id, 'https://portal.example.com/callback'];
      await operate(rig, (changes) => removeRedirectUri(changes, { applicationId, uri }));
    },
    error: 'INVALID_GRANT',
    reason: 'redirect_uri_removed',
  },
  {
    title: 'a code whose redirect URI the operator has given to another instance',
    meanwhile: async (rig) => {
      const [applicationId, uri] = [rig.application.id, 'https://portal.example.com/callback'];
      const { instanceId } = await newPlace(rig.issuer);
      await operate(rig, async (changes) => {
        await removeRedirectUri(changes, { applicationId, uri });
        await addRedirectUri(changes, applicationId, { uri, instanceId });
      });
    },
    error: 'INVALID_GRANT',
    reason: 'redirect_uri_removed',
  },
  {
    title: 'a code with only scopes that the application may no longer use',
    code: { scopes: ['email'] },
    meanwhile: (rig) => narrowTo(rig, ['openid']),
    error: 'INVALID_GRANT',
    reason: 'scopes',
  },
];

describe('the exchange of a code refuses', () => {
  const under = databaseUnderTest('SQLite');

  test.each(REFUSED)('$title, which is on record and uses nothing up', async (refused) => {
    const rig = await tokenRig(under);
    const application = await newApplication(rig.issuer, rig.database, rig.instanceId, refused.application);
    const other = { uri: 'https://portal.example.com/other', instanceId: rig.instanceId };
    await operate(rig, (changes) => addRedirectUri(changes, application.id, other));
    const { code, exchange } = await newCode({ ...rig, application }, refused.code);
    await refused.meanwhile?.({ ...rig, application });
    const attempt = exchangeCode(rig.issuer, application.client, { ...exchange, ...refused.exchange });

    expect(await refusalOf(attempt)).toEqual({ code: refused.error, faults: [] });
    expect(await grantOf(rig, code.grantId)).toBeUndefined();
    const { rows } = rig.issuer.unitOfWork;
    expect((await rows.codes.find(code.hash))?.status).toBe(refused.code?.status ?? 'ISSUED');
    expect(await audited(rig)).toEqual([]);
    const { requestId, remoteAddress } = application.client;
    const record = {
      type: 'code.refused',
      outcome: 'refused',
      actor: { type: 'application', id: application.id, requestId, remoteAddress },
      subject: { type: 'account', id: rig.accountId },
      attributes: { grant_id: code.grantId, instance_id: rig.instanceId, reason: refused.reason },
    };
    expect(rig.observed).toEqual(refused.reason === undefined ? [] : [record]);
  });

  test.each(WITHDRAWALS)('a code when $title', async ({ title, prepare, withdraw, reason = 'person' }) => {
    const rig = await tokenRig(under);
    await prepare?.(rig);
    const { code, exchange } = await newCode(rig);
    await withdraw(rig);
    const attempt = exchangeCode(rig.issuer, rig.application.client, exchange);
    const error = title.includes('application') ? 'UNAUTHORIZED_CLIENT' : 'INVALID_GRANT';
    expect(await refusalOf(attempt)).toMatchObject({ code: error });
    expect(rig.observed.map(({ attributes }) => attributes.reason)).toEqual([reason]);
    expect(await grantOf(rig, code.grantId)).toBeUndefined();
  });

  test('a code for the user when the user is deleted, although the person is a worker there too', async () => {
    const rig = await tokenRig(under);
    await hired(rig);
    const codes = [
      await newCode(rig),
      await newCode(rig, { context: { userType: 'WORKER', clientId: rig.clientId } }),
    ];
    await rig.issuer.unitOfWork.run((changes) => deleteUser(changes, { userId: rig.user.id }));
    const [asUser, asWorker] = codes.map(({ exchange }) =>
      exchangeCode(rig.issuer, rig.application.client, exchange),
    );
    expect(await refusalOf(asUser as Promise<unknown>)).toMatchObject({ code: 'INVALID_GRANT' });
    expect(await asWorker).toMatchObject({ scope: 'openid profile email' });
  });

  test('a scope that the application may not use now is left out', async () => {
    const rig = await tokenRig(under);
    const { exchange } = await newCode(rig);
    await narrowTo(rig, ['openid', 'profile']);
    const { scope } = await exchangeCode(rig.issuer, rig.application.client, exchange);
    expect(scope).toBe('openid profile');
  });
});

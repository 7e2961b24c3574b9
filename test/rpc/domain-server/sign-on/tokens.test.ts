import { describe, expect, test } from '@jest/globals';
import { UserType } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { SignOnServiceService as methods } from '../../../../generated/proto/integration/sign_on/v1/sign_on.js';
import {
  type ClientAuthentication,
  ClientAuthenticationMethod as Method,
  type VerifiedAccessToken,
} from '../../../../generated/proto/integration/sign_on/v1/tokens.js';
import type { CodeExchange } from '../../../../src/domain/sign-on/tokens/exchange-code.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { signOnService } from '../../../../src/rpc/domain-server/sign-on/index.js';
import { verifiedAccessToken } from '../../../domain/sign-on/token-keys.js';
import { newCode, type TokenRig, tokenRig } from '../../../domain/sign-on/token-rig.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { refusalOf, rpcRigs, TOKENS } from '../../rig.js';

const CALL = { requestId: 'request-of-the-test', deadlineMs: 20_000 };

describe('tokens over gRPC', () => {
  const under = databaseUnderTest('SQLite');
  const rigs = rpcRigs();

  async function serving() {
    const tokens = await tokenRig(under);
    const rpc = await rigs.start([signOnService(tokens.issuer)]);
    const sent = tokens.application.client;
    const client: ClientAuthentication = {
      method: Method.BASIC,
      clientId: sent.clientId,
      clientSecretHash: Buffer.from(sent.secretHash as Uint8Array),
      remoteAddress: sent.remoteAddress,
    };
    return { ...tokens, rpc, client, calls: rpc.channel(TOKENS.edge).clientOf(methods) };
  }

  function codeGrant({ codeHash, redirectUri, codeVerifier }: CodeExchange) {
    const value = { codeHash: Buffer.from(codeHash), redirectUri, codeVerifier };
    return { $case: 'authorizationCode', value } as const;
  }

  async function verified(rig: TokenRig, accessToken: string): Promise<VerifiedAccessToken> {
    const { scopes, issuedAt, expiresAt, ...rest } = await verifiedAccessToken(
      rig.keys,
      rig.clock.now,
      accessToken,
    );
    return {
      ...rest,
      scope: scopes.join(' '),
      issuedAt: new Date(issuedAt),
      expiresAt: new Date(expiresAt),
    };
  }

  test('a code becomes tokens, they show the person, are introspected, refreshed and revoked', async () => {
    const rig = await serving();
    const { calls, client } = rig;
    const { exchange } = await newCode(rig);
    const issued = await calls.issueTokens({ client, grant: codeGrant(exchange) }, CALL);
    expect(issued).toEqual({
      accessToken: expect.any(String),
      expiresInSeconds: 3_600,
      refreshToken: expect.any(String),
      idToken: expect.any(String),
      scope: 'openid profile email',
    });

    const accessToken = await verified(rig, issued.accessToken);
    const { claims } = await calls.getUserinfo({ accessToken }, CALL);
    expect(claims).toEqual({
      sub: rig.accountId,
      aud: rig.application.id,
      email: rig.user.email,
      emailVerified: false,
      name: 'Ada Moreau',
      firstName: 'Ada',
      lastName: 'Moreau',
      workerProfileId: expect.stringMatching(/^wpf_/),
      userIds: [{ id: rig.user.id, clientId: rig.clientId }],
      workerIds: [],
      lastLoginContext: { userType: UserType.USER, clientId: rig.clientId },
    });

    const asked = { client, token: { $case: 'accessToken', value: accessToken } } as const;
    expect(await calls.introspectToken(asked, CALL)).toEqual({
      active: true,
      token: {
        scope: 'openid profile email',
        clientId: rig.application.id,
        sub: rig.accountId,
        issuedAt: accessToken.issuedAt,
        expiresAt: accessToken.expiresAt,
        tokenId: accessToken.tokenId,
      },
    });

    const refreshToken = issued.refreshToken as string;
    const grant = { $case: 'refreshToken', value: { refreshToken, scope: 'openid' } } as const;
    const refreshed = await calls.issueTokens({ client, grant }, CALL);
    expect(refreshed).toEqual({
      accessToken: expect.any(String),
      expiresInSeconds: 3_600,
      refreshToken: expect.any(String),
      scope: 'openid',
    });

    const newest = { $case: 'refreshToken', value: refreshed.refreshToken as string } as const;
    expect(await calls.introspectToken({ client, token: newest }, CALL)).toMatchObject({ active: true });
    expect(await calls.revokeToken({ client, token: newest }, CALL)).toEqual({});
    expect(await calls.introspectToken(asked, CALL)).toEqual({ active: false });
    const refusal = await refusalOf(calls.getUserinfo({ accessToken }, CALL));
    expect(refusal.code).toBe(ErrorCode.INVALID_TOKEN);
  });

  test('the audit log knows the application, its address and the request', async () => {
    const rig = await serving();
    const { code, exchange } = await newCode(rig);
    await rig.calls.issueTokens({ client: rig.client, grant: codeGrant(exchange) }, CALL);
    const row = await rig.database.reader
      .selectFrom('audit_events')
      .where('type', '=', 'token.issued')
      .selectAll()
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({
      outcome: 'succeeded',
      actor_type: 'application',
      actor_id: rig.application.id,
      subject_type: 'account',
      subject_id: rig.accountId,
      request_id: CALL.requestId,
      remote_address: '192.0.2.7',
    });
    expect(JSON.parse(row.attributes)).toEqual({
      grant_type: 'authorization_code',
      grant_id: code.grantId,
      instance_id: rig.instanceId,
    });
  });

  test('no secret, code or token is in the log or the audit log', async () => {
    const rig = await serving();
    const { exchange } = await newCode(rig);
    const { client } = rig;
    const issued = await rig.calls.issueTokens({ client, grant: codeGrant(exchange) }, CALL);
    await refusalOf(rig.calls.issueTokens({ client, grant: codeGrant(exchange) }, CALL));
    const audit = await rig.database.reader.selectFrom('audit_events').selectAll().execute();
    for (const each of [audit, rig.rpc.lines]) {
      expect(JSON.stringify(each)).toContain(CALL.requestId);
    }
    const written = JSON.stringify([audit, rig.rpc.lines]);
    const secret = Buffer.from(rig.client.clientSecretHash as Uint8Array);
    for (const each of [
      issued.accessToken,
      issued.refreshToken,
      issued.idToken,
      secret.toString('base64url'),
    ]) {
      expect(written).not.toContain(each);
    }
    expect(written).not.toContain(Buffer.from(exchange.codeHash).toString('base64url'));
  });

  test('a body and a header prove an application, an id alone does not where it has a secret', async () => {
    const { calls, client } = await serving();
    const asking = (changed: Partial<ClientAuthentication>) =>
      calls.introspectToken({ client: { ...client, ...changed }, token: undefined }, CALL);
    expect(await asking({ method: Method.BODY })).toEqual({ active: false });
    expect(await asking({ method: Method.BASIC })).toEqual({ active: false });
    for (const method of [Method.NONE, Method.UNSPECIFIED]) {
      const refusal = refusalOf(asking({ method, clientSecretHash: undefined }));
      expect((await refusal).code).toBe(ErrorCode.INVALID_CLIENT);
    }
  });

  test.each(['issueTokens', 'introspectToken', 'revokeToken'] as const)(
    '%s without an application is refused',
    async (name) => {
      const { calls } = await serving();
      const call = calls[name] as (request: object, options: typeof CALL) => Promise<unknown>;
      expect((await refusalOf(call({}, CALL))).code).toBe(ErrorCode.INVALID_CLIENT);
    },
  );

  test('a grant type that is not offered is told to applications only', async () => {
    const { calls, client } = await serving();
    const refusal = await refusalOf(calls.issueTokens({ client, grant: undefined }, CALL));
    expect(refusal.code).toBe(ErrorCode.UNSUPPORTED_GRANT_TYPE);
    const stranger = { ...client, clientSecretHash: Buffer.alloc(32) };
    const other = await refusalOf(calls.issueTokens({ client: stranger, grant: undefined }, CALL));
    expect(other.code).toBe(ErrorCode.INVALID_CLIENT);
  });

  test('userinfo without a token is refused', async () => {
    const { calls } = await serving();
    const refusal = await refusalOf(calls.getUserinfo({ accessToken: undefined }, CALL));
    expect(refusal.code).toBe(ErrorCode.INVALID_TOKEN);
  });

  test('the metadata names what this server can do', async () => {
    const { calls } = await serving();
    expect(await calls.getProviderMetadata({}, CALL)).toEqual({
      issuer: 'https://sign-on.example.com',
      scopesSupported: ['openid', 'profile', 'email'],
      claimsSupported: [
        ...['iss', 'exp', 'iat', 'auth_time', 'nonce', 'acr', 'at_hash', 'sub', 'aud', 'name'],
        ...['firstName', 'lastName', 'given_name', 'family_name'],
        ...['email', 'email_verified', 'workerProfileId', 'userIds', 'workerIds', 'lastLoginContext'],
      ],
      grantTypesSupported: ['authorization_code', 'refresh_token'],
      idTokenSigningAlgorithmsSupported: ['RS256', 'ES256', 'EdDSA'],
      promptValuesSupported: ['none', 'login', 'consent', 'select_account'],
      acrValuesSupported: ['urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport'],
      maxAgeSeconds: 3_600,
    });
  });

  test('the key set holds the public half of each key and nothing of the private one', async () => {
    const { calls } = await serving();
    const { keys, maxAgeSeconds } = await calls.getKeySet({}, CALL);
    expect(maxAgeSeconds).toBe(300);
    expect(keys.map(({ algorithm }) => algorithm).sort()).toEqual(['ES256', 'EdDSA', 'RS256']);
    for (const { kid, algorithm, jwkJson } of keys) {
      const jwk = JSON.parse(jwkJson);
      expect(jwk).toMatchObject({ kid, alg: algorithm, use: 'sig' });
      expect(Object.keys(jwk)).not.toContain('d');
    }
  });
});

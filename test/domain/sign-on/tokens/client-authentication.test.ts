import { describe, expect, test } from '@jest/globals';
import {
  revokeSecret,
  rotateSecret,
  setApplicationEnabled,
} from '../../../../src/domain/operator/applications.js';
import type { TokenIssuer } from '../../../../src/domain/sign-on/sign-on.js';
import {
  authenticateClient,
  type PresentedClient,
} from '../../../../src/domain/sign-on/tokens/client-authentication.js';
import { introspectToken } from '../../../../src/domain/sign-on/tokens/introspect.js';
import { issueTokens } from '../../../../src/domain/sign-on/tokens/issue-tokens.js';
import { revokeToken } from '../../../../src/domain/sign-on/tokens/revoke.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { newApplication, operate, presented, type TokenRig, tokenRig } from '../token-rig.js';

const WRONG = hashSecret('wrong');
const HOUR_MS = 3_600_000;

function secretRow({ database }: TokenRig) {
  return database.reader.selectFrom('application_secrets').selectAll().executeTakeFirstOrThrow();
}

describe('an application', () => {
  const under = databaseUnderTest('SQLite');

  test('is admitted with its secret', async () => {
    const rig = await tokenRig(under);
    const application = await authenticateClient(rig.issuer, rig.application.client);
    expect(application.id).toBe(rig.application.id);
  });

  test('that is public is admitted with its id alone', async () => {
    const rig = await tokenRig(under);
    const { id, client } = await newApplication(rig.issuer, rig.database, rig.instanceId, { type: 'public' });
    expect((await authenticateClient(rig.issuer, client)).id).toBe(id);
  });

  test('is admitted with each of its secrets until that ends or is revoked', async () => {
    const rig = await tokenRig(under);
    const applicationId = rig.application.id;
    const rotated = await operate(rig, (changes) =>
      rotateSecret(changes, 'demo', { applicationId, overlapSeconds: 60 }),
    );
    const [old, fresh] = [rig.application.client, presented(applicationId, rotated.clientSecret)];
    rig.clock.advance(59_999);
    await authenticateClient(rig.issuer, old);
    await authenticateClient(rig.issuer, fresh);
    rig.clock.advance(1);
    expect(await refusalOf(authenticateClient(rig.issuer, old))).toMatchObject({ code: 'INVALID_CLIENT' });
    await authenticateClient(rig.issuer, fresh);
    const secretId = rotated.application.secrets.find(({ expiresAt }) => expiresAt === null)?.id as string;
    await operate(rig, (changes) => revokeSecret(changes, { applicationId, secretId }));
    expect(await refusalOf(authenticateClient(rig.issuer, fresh))).toMatchObject({ code: 'INVALID_CLIENT' });
  });

  test.each([
    ['with a wrong secret', { secretHash: WRONG }, 'wrong'],
    ['without a secret', { method: 'none' as const, secretHash: undefined }, 'wrong'],
    ['that is unknown', { clientId: `app_${'0'.repeat(22)}` }, 'unknown_application'],
    ['with a malformed id', { clientId: "app_' or 1=1" }, 'unknown_application'],
  ])('%s is on record as a stranger, with nothing that the stranger wrote', async (_, shown, reason) => {
    const rig = await tokenRig(under);
    const client: PresentedClient = { ...rig.application.client, ...shown };
    await refusalOf(authenticateClient(rig.issuer, client));
    const { requestId, remoteAddress } = client;
    expect(rig.observed).toEqual([
      {
        type: 'client_secret.refused',
        outcome: 'refused',
        actor: { type: 'stranger', id: 'unknown', requestId, remoteAddress },
        subject: reason === 'wrong' ? { type: 'application', id: rig.application.id } : null,
        attributes: { method: client.method, reason },
      },
    ]);
  });

  test.each<[string, (issuer: TokenIssuer, client: PresentedClient) => Promise<unknown>]>([
    [
      'tokens',
      (issuer, client) => issueTokens(issuer, client, { grantType: 'refresh_token', refreshToken: 'x' }),
    ],
    ['introspection', (issuer, client) => introspectToken(issuer, client, undefined)],
    ['revocation', (issuer, client) => revokeToken(issuer, client, undefined)],
  ])('that is disabled is on record where it asks for %s with its secret', async (_, ask) => {
    const rig = await tokenRig(under);
    const { id, client } = rig.application;
    const open = await newApplication(rig.issuer, rig.database, rig.instanceId, { type: 'public' });
    for (const applicationId of [id, open.id]) {
      await operate(rig, (changes) => setApplicationEnabled(changes, applicationId, false));
    }
    const disabled = { code: 'UNAUTHORIZED_CLIENT' };
    expect(await refusalOf(ask(rig.issuer, open.client))).toMatchObject(disabled);
    expect(rig.observed).toEqual([]);
    expect(await refusalOf(ask(rig.issuer, client))).toMatchObject(disabled);
    const wrong = { ...client, secretHash: WRONG };
    expect(await refusalOf(ask(rig.issuer, wrong))).toMatchObject({ code: 'INVALID_CLIENT' });
    const { requestId, remoteAddress } = client;
    const application = { type: 'application', id };
    const refusal = { type: 'client_secret.refused', outcome: 'refused', subject: application };
    expect(rig.observed).toEqual([
      {
        ...refusal,
        actor: { ...application, requestId, remoteAddress },
        attributes: { method: 'secret', reason: 'disabled' },
      },
      {
        ...refusal,
        actor: { type: 'stranger', id: 'unknown', requestId, remoteAddress },
        attributes: { method: 'secret', reason: 'wrong' },
      },
    ]);
  });

  test.each<[string, (client: PresentedClient) => Partial<PresentedClient>]>([
    ['that did not present itself', () => ({ method: undefined })],
    ['that is unknown', () => ({ clientId: 'app_0000000000000000000000' })],
    ['with a malformed id', () => ({ clientId: "app_' or 1=1" })],
    ['with an id that holds a NUL', () => ({ clientId: 'app_a\0' })],
    ['with an id that is a property of every object', () => ({ clientId: '__proto__' })],
    ['with an empty id', () => ({ clientId: '' })],
    ['with a wrong secret', () => ({ secretHash: WRONG })],
    ['with a secret that is no hash', () => ({ secretHash: Buffer.alloc(0) })],
    ['with the beginning of its secret', ({ secretHash }) => ({ secretHash: secretHash?.subarray(0, 31) })],
    ['that says it has a secret and shows none', () => ({ secretHash: undefined })],
    ['that is confidential and does not prove itself', () => ({ method: 'none', secretHash: undefined })],
    ['that shows a secret and says it has none', () => ({ method: 'none' })],
  ])('%s is refused with one and the same answer', async (_, changed) => {
    const { issuer, application } = await tokenRig(under);
    const client = { ...application.client, ...changed(application.client) };
    const refusal = authenticateClient(issuer, client);
    await expect(refusal).rejects.toEqual(
      new ServiceError(ErrorCode.INVALID_CLIENT, 'The application is unknown or its secret is wrong.'),
    );
  });

  test('that is public is refused with a secret', async () => {
    const rig = await tokenRig(under);
    const { id } = await newApplication(rig.issuer, rig.database, rig.instanceId, { type: 'public' });
    const refusal = await refusalOf(authenticateClient(rig.issuer, presented(id, 'cs_demo_of_nobody')));
    expect(refusal).toMatchObject({ code: 'INVALID_CLIENT' });
  });

  test('notes the use of its secret once an hour, without making the call wait', async () => {
    const rig = await tokenRig(under);
    const lastUse = async () => {
      // Writes happen in order: after this one the note is written, or never will be.
      await rig.issuer.unitOfWork.run(async () => undefined);
      return (await secretRow(rig)).last_used_at;
    };
    const start = rig.clock.now();
    expect(await lastUse()).toBeNull();
    await authenticateClient(rig.issuer, rig.application.client);
    expect(await lastUse()).toBe(start);
    rig.clock.advance(HOUR_MS);
    await authenticateClient(rig.issuer, rig.application.client);
    expect(await lastUse()).toBe(start);
    rig.clock.advance(1);
    await authenticateClient(rig.issuer, rig.application.client);
    expect(await lastUse()).toBe(start + HOUR_MS + 1);
    expect(rig.backgroundErrors).toEqual([]);
  });

  test('is admitted although its last use cannot be recorded, and the failure is reported', async () => {
    const rig = await tokenRig(under);
    const failure = new Error('the disk is full');
    const issuer = {
      ...rig.issuer,
      unitOfWork: { ...rig.issuer.unitOfWork, run: () => Promise.reject(failure) },
    };
    expect(await authenticateClient(issuer, rig.application.client)).toHaveProperty('id');
    await new Promise(setImmediate);
    expect(rig.backgroundErrors).toEqual([failure]);
  });
});

describe('wrong secrets from one network address', () => {
  const under = databaseUnderTest('SQLite');

  async function guesses(count: number, addressOf = (_: number) => '192.0.2.7') {
    const rig = await tokenRig(under);
    const { client } = rig.application;
    for (let guess = 0; guess < count; guess += 1) {
      const clientId = guess % 2 ? client.clientId : `app_${guess}`;
      const remoteAddress = addressOf(guess);
      const wrong = { ...client, clientId, remoteAddress, secretHash: WRONG };
      const refusal = refusalOf(authenticateClient(rig.issuer, wrong));
      expect(await refusal).toMatchObject({ code: 'INVALID_CLIENT' });
    }
    return { ...rig, client };
  }

  test('are looked at sixty times a minute, whichever application they are for', async () => {
    const { issuer, client, clock } = await guesses(60);
    const refusal = authenticateClient(issuer, { ...client, secretHash: WRONG });
    await expect(refusal).rejects.toMatchObject({
      code: ErrorCode.RATE_LIMITED,
      retryAfterSeconds: 60,
      rateLimit: { limit: 60, remaining: 0, resetSeconds: 60 },
    });
    clock.advance(60_000);
    const later = authenticateClient(issuer, { ...client, secretHash: WRONG });
    await expect(later).rejects.toMatchObject({ code: ErrorCode.INVALID_CLIENT });
  });

  test('do not delay right secrets, nor public applications', async () => {
    const { issuer, client, database, instanceId } = await guesses(60);
    expect((await authenticateClient(issuer, client)).id).toBe(client.clientId);
    const elsewhere = { ...client, remoteAddress: '192.0.2.8' };
    expect((await authenticateClient(issuer, elsewhere)).id).toBe(client.clientId);
    const open = await newApplication(issuer, database, instanceId, { type: 'public' });
    expect((await authenticateClient(issuer, open.client)).id).toBe(open.id);
  });

  test('are counted together for all of an IPv6 network', async () => {
    const { issuer, client } = await guesses(60, (guess) => `2001:db8:0:1::${guess.toString(16)}`);
    const wrong = { ...client, secretHash: WRONG, remoteAddress: '2001:db8:0:1:ffff::1' };
    await expect(authenticateClient(issuer, wrong)).rejects.toMatchObject({ code: ErrorCode.RATE_LIMITED });
    const nextDoor = { ...wrong, remoteAddress: '2001:db8:1::1' };
    await expect(authenticateClient(issuer, nextDoor)).rejects.toMatchObject({
      code: ErrorCode.INVALID_CLIENT,
    });
  });

  test('are all that counts: right ones may come as often as they like', async () => {
    const { issuer, client } = await guesses(59);
    for (let call = 0; call < 200; call += 1) {
      await authenticateClient(issuer, client);
    }
  });
});

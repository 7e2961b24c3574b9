import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { PasswordLinkPurpose } from '../../../../generated/proto/integration/platform/v1/accounts.js';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { platformService } from '../../../../src/rpc/domain-server/platform/index.js';
import type { PlatformDependencies } from '../../../../src/rpc/domain-server/platform/write.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { invitedAlone } from '../../../store/adapters/platform/people.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { platformDependencies, quickHasher } from '../../../support/platform-dependencies.js';
import { CALL, refusalOf, rpcRigs, TOKENS } from '../../rig.js';

const PASSWORD = 'a canary in the coal mine';

describeEachDatabase('credentials over gRPC', (under) => {
  const rigs = rpcRigs();

  /** The account of one person, and how to call the service about it. */
  async function serving(overrides: Partial<PlatformDependencies> = {}) {
    const database = await under.openMigrated();
    const platform = { ...platformDependencies(platformUnitOfWork(database)), ...overrides };
    const rig = await rigs.start([platformService(platform)]);
    const { accountId } = await invitedAlone(database, { email: 'ada@example.com' });
    const client = rig.channel(TOKENS.platform).clientOf(methods);
    const account = async () =>
      (await client.getAccount({ key: { $case: 'accountId', value: accountId } }, CALL)).account;
    return { database, client, account, accountId, lines: rig.lines };
  }

  test('a password is set, and the account says when', async () => {
    const { client, account, accountId, database } = await serving();
    expect((await account())?.passwordSetAt).toBeUndefined();
    const earliest = Date.now();
    const answer = await client.setPassword({ accountId, password: PASSWORD }, CALL);
    const setAt = answer.account?.passwordSetAt?.getTime() ?? 0;
    expect([setAt >= earliest, setAt <= Date.now()]).toEqual([true, true]);
    expect(answer.account).toEqual(await account());
    const [row] = await database.reader.selectFrom('passwords').selectAll().execute();
    expect(row).toEqual({ account_id: accountId, hash: await quickHasher.hash(PASSWORD), set_at: setAt });
    const renamed = await client.updateAccount({ accountId, firstName: 'Ada' }, CALL);
    expect(renamed.account?.passwordSetAt?.getTime()).toBe(setAt);
  });

  test('a repeated call sets it once; the key of another password is refused', async () => {
    const { client, accountId, database } = await serving();
    const request = { accountId, password: PASSWORD, idempotencyKey: 'once' };
    const first = await client.setPassword(request, CALL);
    expect(await client.setPassword(request, CALL)).toEqual(first);
    const audited = await database.reader.selectFrom('audit_events').select('type').execute();
    expect(audited).toEqual([{ type: 'password.set' }]);
    const another = client.setPassword({ ...request, password: `${PASSWORD}!` }, CALL);
    expect((await refusalOf(another)).code).toBe(ErrorCode.IDEMPOTENCY_KEY_REUSED);
  });

  test('what is remembered of a repeatable call cannot be tried against guesses without the key', async () => {
    const { client, accountId, database } = await serving();
    const request = { accountId, password: PASSWORD, idempotencyKey: 'once' };
    await client.setPassword(request, CALL);
    const rows = await database.reader.selectFrom('idempotency_keys').selectAll().execute();
    const bytes = methods.setPassword.requestSerialize({ ...request, idempotencyKey: undefined });
    const unkeyed = createHash('sha256').update(bytes).digest('base64url');
    const { hashRequest } = platformDependencies(platformUnitOfWork(database));
    expect(rows.map((row) => row.request_hash)).toEqual([hashRequest(bytes).toString('base64url')]);
    const kept = JSON.stringify(rows);
    for (const secret of [PASSWORD, Buffer.from(PASSWORD).toString('base64'), unkeyed]) {
      expect(kept).not.toContain(secret);
    }
  });

  test('no password is hashed when it is refused, nor for an unknown account', async () => {
    const hashed: string[] = [];
    const hash = async (password: string) => {
      hashed.push(password);
      return quickHasher.hash(password);
    };
    const { client, accountId } = await serving({ passwords: { ...quickHasher, hash } });
    const short = await refusalOf(client.setPassword({ accountId, password: 'fourteen rooks' }, CALL));
    expect(short.code).toBe(ErrorCode.INVALID_REQUEST);
    expect(short.fieldViolations).toEqual([
      { path: 'password', message: 'must have at least 15 characters' },
    ]);
    const missing = client.setPassword({ accountId: 'acc_missing', password: PASSWORD }, CALL);
    expect((await refusalOf(missing)).code).toBe(ErrorCode.ACCOUNT_NOT_FOUND);
    expect(hashed).toEqual([]);
  });

  test('a hasher with too much to do is reported, with a time to come back', async () => {
    const busy = new ServiceError(ErrorCode.UNAVAILABLE, 'Too many at once.', { retryAfterSeconds: 3 });
    const passwords = { ...quickHasher, hash: () => Promise.reject(busy) };
    const { client, account, accountId } = await serving({ passwords });
    const refused = await refusalOf(client.setPassword({ accountId, password: PASSWORD }, CALL));
    expect([refused.code, refused.retryAfterSeconds]).toEqual([ErrorCode.UNAVAILABLE, 3]);
    expect((await account())?.passwordSetAt).toBeUndefined();
  });

  test('a link leads to the page of its purpose, and only its hash is kept', async () => {
    const { client, accountId, database, lines } = await serving();
    await database.write((writer) => writer.updateTable('accounts').set({ email_verified_at: 1 }).execute());
    const links = [
      await client.createPasswordLink({ accountId, purpose: PasswordLinkPurpose.INVITATION }, CALL),
      await client.createPasswordLink(
        { accountId, purpose: PasswordLinkPurpose.RESET, lifetimeSeconds: 60 },
        CALL,
      ),
      await client.createEmailVerificationLink({ accountId }, CALL),
    ];
    expect(links.map(({ url }) => url.replace(/[\w-]{43}$/, '…'))).toEqual([
      'https://sign-on.example.com/auth/set-password?token=…',
      'https://sign-on.example.com/auth/set-password?token=…',
      'https://sign-on.example.com/auth/verify-email?token=…',
    ]);
    expect(links.map(({ email }) => email)).toEqual(Array(3).fill('ada@example.com'));
    const rows = await database.reader.selectFrom('account_links').selectAll().execute();
    const kept = new Map(rows.map((row) => [row.token_hash, [row.purpose, row.expires_at]]));
    const purposes = ['invitation', 'reset', 'verify_email'];
    for (const [index, { url, expiresAt }] of links.entries()) {
      const token = new URL(url).searchParams.get('token') as string;
      expect(kept.get(hashSecret(token).toString('base64url'))).toEqual([
        purposes[index],
        expiresAt?.getTime(),
      ]);
      expect(JSON.stringify([rows, lines])).not.toContain(token);
    }
  });

  test('a link without a purpose, or for longer than 30 days, is refused', async () => {
    const { client, accountId } = await serving();
    const faulty = { accountId, purpose: PasswordLinkPurpose.UNSPECIFIED, lifetimeSeconds: 2_592_001 };
    const refused = await refusalOf(client.createPasswordLink(faulty, CALL));
    expect(refused.fieldViolations.map(({ path }) => path)).toEqual(['purpose', 'lifetime_seconds']);
    const verification = client.createEmailVerificationLink({ accountId, lifetimeSeconds: 0 }, CALL);
    expect((await refusalOf(verification)).fieldViolations).toMatchObject([{ path: 'lifetime_seconds' }]);
  });
});

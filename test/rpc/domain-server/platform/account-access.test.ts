import { expect, test } from '@jest/globals';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { createApplication } from '../../../../src/domain/operator/applications.js';
import { inNameOf } from '../../../../src/domain/unit-of-work.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { platformService } from '../../../../src/rpc/domain-server/platform/index.js';
import { auditRows } from '../../../../src/store/adapters/operator/audit-events.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { lock } from '../../../../src/store/adapters/unit-of-work.js';
import type { Database, Writer } from '../../../../src/store/database.js';
import { OPERATOR } from '../../../store/adapters/operator/rig.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { platformDependencies } from '../../../support/platform-dependencies.js';
import { connectionsWaiting } from '../../../support/postgres/waiting-connections.js';
import { signalled } from '../../../support/signalled.js';
import { CALL, refusalOf, rpcRigs } from '../../rig.js';

const AT = 1_790_000_000_000;

describeEachDatabase('the sessions, consents and grants of a person', (under) => {
  const rigs = rpcRigs();

  /** Two people with two sessions, two consents and two grants each; ids of the first have `own`. */
  async function prepare() {
    const database = await under.openMigrated();
    const service = platformService(platformDependencies(platformUnitOfWork(database)));
    const rig = await rigs.start([service], {
      authenticate: () => ({ caller: 'platform', tokenId: 'tok_1' }),
    });
    const client = rig.channel('any').clientOf(methods);
    const { instance } = await client.createInstance({ name: 'Harborlight' }, CALL);
    const instance_id = instance?.id as string;
    const made = await client.createClient({ instanceId: instance_id, name: 'Tallowfern' }, CALL);
    const clientId = made.client?.id as string;
    const operator = inNameOf(OPERATOR, operatorUnitOfWork(database));
    const application = { name: 'Rota', type: 'public' as const, redirectUris: [], firstParty: false };
    const newApplication = async () =>
      (await operator.run((changes) => createApplication(changes, 'demo', application))).application.id;
    const applicationIds = [await newApplication(), await newApplication()].sort();
    const newId = await newApplication();
    const accounts: string[] = [];
    for (const name of ['own', 'other']) {
      const email = `${name}@example.com`;
      const { user } = await client.createUser({ clientId, email, withoutManager: true }, CALL);
      const account_id = user?.accountId as string;
      accounts.push(account_id);
      await database.write(async (writer) => {
        for (const number of [1, 2]) {
          const id = `${name}_${number}`;
          const application_id = applicationIds[number - 1] as string;
          await writer
            .insertInto('sessions')
            .values({
              ...{ id, token_hash: `hash of ${id}`, account_id, authenticated_at: AT },
              ...{ last_seen_at: AT + 1, expires_at: AT + 2 },
            })
            .execute();
          await writer
            .insertInto('consents')
            .values({ account_id, application_id, instance_id, scopes: '["openid","email"]', given_at: AT })
            .execute();
          await writer
            .insertInto('grants')
            .values({
              ...{ id, application_id, account_id, instance_id, scopes: 'openid email', session_id: id },
              ...{ authenticated_at: AT, generation: 3, rotated_at: AT + 3, expires_at: AT + 4 },
              revoked_at: number === 1 ? null : AT + 1,
            })
            .execute();
        }
      });
    }
    const [accountId, otherId] = accounts as [string, string];
    const list = (pageSize = 0, pageToken = '', id = accountId) =>
      client.listAccountAccess({ accountId: id, pageSize, pageToken }, CALL);
    return { database, client, accountId, otherId, instanceId: instance_id, applicationIds, newId, list };
  }

  test('are listed with what is stored of them, and without secrets', async () => {
    const { instanceId, applicationIds, list } = await prepare();
    const at = (ms: number) => new Date(AT + ms);
    const numbers = [1, 2];
    const answer = await list();
    expect(answer).toEqual({
      sessions: numbers.map((number) => ({
        ...{ id: `own_${number}`, authenticatedAt: at(0), lastSeenAt: at(1), expiresAt: at(2) },
      })),
      consents: numbers.map((number) => ({
        ...{
          applicationId: applicationIds[number - 1],
          instanceId,
          scopes: ['openid', 'email'],
          givenAt: at(0),
        },
      })),
      grants: numbers.map((number) => ({
        ...{ id: `own_${number}`, applicationId: applicationIds[number - 1], instanceId },
        scopes: ['openid', 'email'],
        ...{ sessionId: `own_${number}`, authenticatedAt: at(0), lastTokenAt: at(3), expiresAt: at(4) },
        ...(number === 2 && { revokedAt: at(1) }),
      })),
      nextPageToken: '',
    });
  });

  test.each([1, 3, 4])('are listed in pages of %i, each once', async (pageSize) => {
    const { list, applicationIds } = await prepare();
    const found: string[] = [];
    let pageToken = '';
    do {
      const page = await list(pageSize, pageToken);
      const ids = [
        ...page.sessions.map(({ id }) => `session ${id}`),
        ...page.consents.map(({ applicationId }) => `consent ${applicationId}`),
        ...page.grants.map(({ id }) => `grant ${id}`),
      ];
      expect(ids.length).toBeLessThanOrEqual(pageSize);
      found.push(...ids);
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(found).toEqual([
      ...['session own_1', 'session own_2'],
      ...applicationIds.map((id) => `consent ${id}`),
      ...['grant own_1', 'grant own_2'],
    ]);
  });

  test('are of a person who exists, and go on where a page ended', async () => {
    const { list } = await prepare();
    expect((await refusalOf(list(0, '', 'acc_none'))).code).toBe(ErrorCode.ACCOUNT_NOT_FOUND);
    const elsewhere = Buffer.from('accounts:1').toString('base64url');
    expect((await refusalOf(list(0, elsewhere))).fieldViolations[0]?.path).toBe('page_token');
  });

  test('end for one application on one instance, which is recorded once', async () => {
    const { client, database, accountId, otherId, instanceId, list, ...made } = await prepare();
    const [first = '', second = ''] = made.applicationIds;
    const withdraw = (applicationId: string, instance = instanceId) =>
      client.withdrawConsent({ accountId, applicationId, instanceId: instance }, CALL);
    expect(await withdraw(first, 'ins_none')).toEqual({ withdrawn: false });
    expect(await withdraw('app_none')).toEqual({ withdrawn: false });
    expect(await withdraw(first)).toEqual({ withdrawn: true });
    expect(await withdraw(first)).toEqual({ withdrawn: false });
    const left = await list();
    expect(left.consents.map(({ applicationId }) => applicationId)).toEqual([second]);
    expect(left.grants.map(({ revokedAt }) => revokedAt)).toEqual([expect.any(Date), new Date(AT + 1)]);
    expect(left.sessions).toHaveLength(2);
    const other = await list(0, '', otherId);
    expect(other.consents).toHaveLength(2);
    expect(other.grants[0]?.revokedAt).toBeUndefined();
    const types = ['consent.*'];
    const records = await auditRows(database.reader).page({ after: undefined, limit: 10 }, { types });
    expect(records).toMatchObject([
      {
        type: 'consent.withdrawn',
        actor: { type: 'service_token', id: 'tok_1' },
        subject: { type: 'account', id: accountId },
        attributes: { application_id: first, instance_id: instanceId },
      },
    ]);
  });

  /** The person approves a new application: a consent and a code, in one write. */
  async function approve(
    writer: Writer,
    key: Record<'account_id' | 'application_id' | 'instance_id', string>,
  ) {
    await writer
      .insertInto('consents')
      .values({ ...key, scopes: '["openid"]', given_at: AT })
      .execute();
    await writer
      .insertInto('authorization_codes')
      .values({
        ...{ ...key, hash: 'hash of a code', grant_id: 'grant_1', redirect_uri: 'https://rota.example.com/' },
        ...{
          scopes: 'openid',
          requested_claims: '{}',
          context_user_type: 'USER',
          context_client_id: 'cli_1',
        },
        ...{ authenticated_at: AT, status: 'ISSUED', minute: 0, issued_at: AT, expires_at: AT + 60_000 },
      })
      .execute();
  }

  test('end with a code that no application has redeemed, also if there is nothing else', async () => {
    const { client, database, accountId: account_id, instanceId: instance_id, newId, list } = await prepare();
    const code = { account_id, application_id: newId, instance_id };
    await database.write(async (writer) => {
      await approve(writer, code);
      await writer.deleteFrom('consents').where('application_id', '=', newId).execute();
    });
    const key = { accountId: account_id, applicationId: newId, instanceId: instance_id };
    expect(await client.withdrawConsent(key, CALL)).toEqual({ withdrawn: true });
    expect(await statusesOfCodes(database)).toEqual(['EXPIRED']);
    expect(await client.withdrawConsent(key, CALL)).toEqual({ withdrawn: false });
    expect((await list()).consents).toHaveLength(2);
  });

  test('end with an approval that is not committed yet', async () => {
    const { client, database, accountId: account_id, instanceId: instance_id, newId, list } = await prepare();
    const { told: isApproved, tell: approved } = signalled();
    const { told: mayCommit, tell: commit } = signalled();
    const approval = database.write(async (writer) => {
      await lock(writer, [account_id]);
      await approve(writer, { account_id, application_id: newId, instance_id });
      approved();
      await mayCommit;
    });
    await Promise.race([isApproved, approval]);
    const key = { accountId: account_id, applicationId: newId, instanceId: instance_id };
    let isAnswered = false;
    const withdrawal = client.withdrawConsent(key, CALL).finally(() => {
      isAnswered = true;
    });
    if (under.kind === 'PostgreSQL') {
      const waits = async () => isAnswered || (await connectionsWaiting(database)) > 0;
      await eventually('a withdrawal that waits or has ended', waits);
    }
    commit();
    await approval;
    expect(await withdrawal).toEqual({ withdrawn: true });
    expect((await list()).consents).toHaveLength(2);
    expect(await statusesOfCodes(database)).toEqual(['EXPIRED']);
  });
});

async function statusesOfCodes({ reader }: Database): Promise<string[]> {
  const rows = await reader.selectFrom('authorization_codes').select('status').execute();
  return rows.map(({ status }) => status);
}

import { expect, test } from '@jest/globals';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { createApplication } from '../../../../src/domain/operator/applications.js';
import { inNameOf } from '../../../../src/domain/unit-of-work.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { platformService } from '../../../../src/rpc/domain-server/platform/index.js';
import { auditRows } from '../../../../src/store/adapters/operator/audit-events.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { OPERATOR } from '../../../store/adapters/operator/rig.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { platformDependencies } from '../../../support/platform-dependencies.js';
import { refusalOf, rpcRigs } from '../../rig.js';

const CALL = { requestId: 'r', deadlineMs: 20_000 };
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
    return { database, client, accountId, otherId, instanceId: instance_id, applicationIds, list };
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
});

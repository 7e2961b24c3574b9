import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import { AuditOutcome } from '../../../generated/proto/integration/operator/v1/audit.js';
import { newPostgresDatabase, type PostgresDatabase } from '../../support/databases.js';
import { serviceProcesses } from '../../support/service-process.js';
import { apps, clientIds, DemoEnvironment } from './demo-environment.js';
import { call } from './environment.js';

describe('on PostgreSQL', () => {
  let database: PostgresDatabase;
  let demo: DemoEnvironment;
  const services = serviceProcesses();

  beforeAll(async () => {
    database = await newPostgresDatabase();
    demo = new DemoEnvironment(await services.start({ env: { DATABASE_URL: database.url } }));
  });
  // Dropped by force, since the service that uses it ends after this.
  afterAll(async () => {
    demo?.close();
    await database?.drop();
  });

  test('a first sign-in, a context, a refresh and a sign-out are what they are on SQLite', async () => {
    const person = await demo.newPerson({ user: [clientIds.tallowfern], worker: [clientIds.quillmere] });
    const party = await demo.party(apps.mobile);
    const browser = demo.browser();
    const context = `WORKER:${clientIds.quillmere}`;
    const tried = await party.tryToSignIn(browser, { ...person, context });
    expect(tried.pages).toEqual(['Sign in', 'Continue as', 'Allow']);
    const tokens = await party.exchange(tried);
    expect(tokens.claims()).toMatchObject({
      sub: person.accountId,
      lastLoginContext: { userType: 'WORKER', clientId: clientIds.quillmere },
    });
    const { user } = await demo.platform.getUser({ userId: person.userIds[0] ?? '' }, call());
    // Who signs in as a worker is not yet a user.
    expect(user?.status).toBe('USER_STATUS_INVITED');
    const refreshed = await client.refreshTokenGrant(party.config, tokens.refresh_token as string);
    const userinfo = await client.fetchUserInfo(party.config, refreshed.access_token, person.accountId);
    expect(userinfo.email).toBe(person.email);

    const end = { id_token_hint: tokens.id_token as string };
    const page = await browser.open(client.buildEndSessionUrl(party.config, end));
    expect(page.heading).toBe('You are signed out');
    const { auditEvents } = await demo.operator.listAuditEvents(
      {
        partyId: person.accountId,
        types: [],
        outcome: AuditOutcome.UNSPECIFIED,
        pageSize: 50,
        pageToken: '',
      },
      call(),
    );
    expect(auditEvents.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['sign_in', 'consent.given', 'code.issued', 'token.issued', 'sign_out']),
    );
  });
});

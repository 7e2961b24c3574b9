import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import { AuditOutcome } from '../../../generated/proto/integration/operator/v1/audit.js';
import { newPostgresDatabase, type PostgresDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { serviceProcesses } from '../../support/service-process.js';
import { apps, clientIds, DemoEnvironment } from './demo-environment.js';
import { call } from './environment.js';
import { refusalOf } from './relying-party.js';

const AT_ONCE = 20;

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

  test('of many redemptions of a code at once one succeeds, and the others end what it gave', async () => {
    const person = await demo.newPerson({ user: [clientIds.tallowfern] });
    const party = await demo.party(apps.dashboard);
    // The answer with the tokens may come too late, as a 503: then all others are refused.
    const tokens = await eventually('a code whose tokens arrive', async () => {
      const tried = await party.tryToSignIn(demo.browser(), person);
      let turnedAway = 0;
      const redeem = () =>
        party.exchange(tried).catch((error) => {
          unlessBusy(error);
          turnedAway += 1;
          return undefined;
        });
      const outcomes = await Promise.allSettled(
        Array.from({ length: AT_ONCE }, () => eventually('an answer to a redemption', redeem)),
      );
      const [given, ...more] = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      expect(more).toEqual([]);
      expect(given ?? turnedAway).not.toBe(0);
      return given;
    });
    const userinfo = client.fetchUserInfo(party.config, tokens.access_token, person.accountId);
    expect(await refusalOf(userinfo)).toBe('invalid_token');
  });

  test('of many refreshes with a token at once all learn of one successor', async () => {
    const person = await demo.newPerson({ user: [clientIds.tallowfern] });
    const party = await demo.party(apps.dashboard);
    const { refresh_token: spent = '' } = await party.signIn(demo.browser(), person);
    const refresh = () => client.refreshTokenGrant(party.config, spent).catch(unlessBusy);
    const given = await Promise.all(
      Array.from({ length: AT_ONCE }, () => eventually('an answer to a refresh', refresh)),
    );
    const successors = new Set(given.map(({ refresh_token }) => refresh_token));
    expect([successors.size, successors.has(spent)]).toEqual([1, false]);
  });
});

/** A use that has waited too long for the others is answered 503, and may be repeated. */
function unlessBusy(error: client.ClientError): undefined {
  if ((error.cause as Response | undefined)?.status !== 503) {
    throw error;
  }
}

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import * as client from 'openid-client';
import { sharedIntegration } from '../../cli/typed.js';
import { serviceProcesses } from '../../support/service-process.js';
import { apps, DemoEnvironment, demoEnvironment } from './demo-environment.js';
import { refusalOf, type Tokens } from './relying-party.js';

const environment = demoEnvironment();

const keySetOf = async ({ url }: DemoEnvironment) =>
  (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
const kidsOf = ({ keys }: JSONWebKeySet) => keys.map(({ kid }) => kid);
const kidOf = ({ id_token }: Tokens) => decodeProtectedHeader(id_token as string).kid;

/** What a client does that has this set and asks for no other. */
async function verifiesWith(keySet: JSONWebKeySet, token: string): Promise<boolean> {
  return jwtVerify(token, createLocalJWKSet(keySet)).then(
    () => true,
    () => false,
  );
}

async function signIn(demo: DemoEnvironment) {
  const party = await demo.party(apps.dashboard);
  const tokens = await party.signIn(demo.browser(), demo.demoPerson('user'));
  return { party, tokens };
}

async function rotate(demo: DemoEnvironment, ...options: string[]) {
  const { DATA_DIR = '', GRPC_PORT = '' } = demo.service.settings;
  const settings = { DATA_DIR, GRPC_PORT, INTEGRATION_TOKEN: demo.service.demo().keyCustodianToken };
  const { code, stderr } = await sharedIntegration(['signing-key', 'rotate', ...options], settings);
  expect([code, stderr]).toEqual([0, '']);
}

describe('a rotation', () => {
  const DAY_AND_HOUR_MS = 25 * 3_600_000;
  const services = serviceProcesses();
  let today: DemoEnvironment;
  let yesterday: { keySet: JSONWebKeySet; earlier: Tokens; later: Tokens };

  beforeAll(async () => {
    const demo = new DemoEnvironment(await services.start());
    const earlier = (await signIn(demo)).tokens;
    await rotate(demo);
    const keySet = await keySetOf(demo);
    yesterday = { keySet, earlier, later: (await signIn(demo)).tokens };
    demo.close();
    await demo.service.stop();
    // A day passes for the keys, without a recorded step.
    demo.age(
      'update signing_keys set created_at = created_at - :ms, activates_at = activates_at - :ms'.replaceAll(
        ':ms',
        String(DAY_AND_HOUR_MS),
      ),
    );
    const { dataDir, settings } = demo.service;
    today = new DemoEnvironment(await services.start({ dataDir, env: settings }));
  });
  afterAll(() => today?.close());

  test('publishes the next keys before they sign', () => {
    const { keySet, earlier, later } = yesterday;
    expect(keySet.keys.map(({ alg }) => alg).sort()).toEqual([
      'ES256',
      'ES256',
      'EdDSA',
      'EdDSA',
      'RS256',
      'RS256',
    ]);
    expect(kidOf(later)).toBe(kidOf(earlier));
  });

  test('signs with them a day later, and a client with the set of yesterday verifies it', async () => {
    const { keySet, later } = yesterday;
    const { tokens } = await signIn(today);
    expect(kidOf(tokens)).not.toBe(kidOf(later));
    expect(kidsOf(keySet)).toContain(kidOf(tokens));
    expect(await verifiesWith(keySet, tokens.id_token as string)).toBe(true);
    expect(await verifiesWith(keySet, tokens.access_token)).toBe(true);
    const { signingKeys } = await today.operator.listSigningKeys(
      {},
      { requestId: 'list', deadlineMs: 60_000 },
    );
    expect(signingKeys.map(({ status }) => status.replace('SIGNING_KEY_STATUS_', '')).sort()).toEqual([
      'ACTIVE',
      'ACTIVE',
      'ACTIVE',
      'SUPERSEDED',
      'SUPERSEDED',
      'SUPERSEDED',
    ]);
  });

  test('leaves the tokens of yesterday good: a client with the set of today verifies them', async () => {
    const { earlier, later } = yesterday;
    const keySet = await keySetOf(today);
    for (const { id_token, access_token } of [earlier, later]) {
      expect(await verifiesWith(keySet, id_token as string)).toBe(true);
      expect(await verifiesWith(keySet, access_token)).toBe(true);
    }
    const party = await today.party(apps.dashboard);
    const userinfo = await client.fetchUserInfo(
      party.config,
      earlier.access_token,
      earlier.claims()?.sub ?? '',
    );
    expect(userinfo.sub).toBe(earlier.claims()?.sub);
    const refreshed = await client.refreshTokenGrant(party.config, earlier.refresh_token as string);
    expect(await verifiesWith(yesterday.keySet, refreshed.access_token)).toBe(true);
  });

  test('is in the audit log, step by step', () => {
    const steps = today.rows<{ type: string; count: number }>(
      "select type, count(*) as count from audit_events where type like 'signing_key.%' group by type order by type",
    );
    expect(steps).toEqual([
      { type: 'signing_key.activated', count: 6 },
      { type: 'signing_key.published', count: 6 },
      { type: 'signing_key.superseded', count: 3 },
    ]);
  });
});

describe('a rotation after a leak', () => {
  test('refuses at once whatever the old keys have signed, and continues with new ones', async () => {
    const { demo } = environment;
    const { party, tokens } = await signIn(demo);
    const before = await keySetOf(demo);
    await rotate(demo, '--compromised', '--yes');

    const userinfo = client.fetchUserInfo(party.config, tokens.access_token, tokens.claims()?.sub ?? '');
    expect(await refusalOf(userinfo)).toBe('invalid_token');
    expect(await client.tokenIntrospection(party.config, tokens.access_token)).toEqual({ active: false });
    // As a hint it names no person any more, and stops none.
    const hint = { id_token_hint: tokens.id_token as string };
    const browser = demo.browser();
    await party.signIn(browser, demo.demoPerson('user'), hint);
    const silent = await party.tryToSignIn(browser, {}, { ...hint, prompt: 'none' });
    expect(silent.returned.searchParams.get('error')).toBe('login_required');

    const withdrawn = demo.rows("select subject_id from audit_events where type = 'signing_key.withdrawn'");
    expect(withdrawn).toHaveLength(before.keys.length);

    const after = await keySetOf(demo);
    expect(kidsOf(after).filter((kid) => kidsOf(before).includes(kid))).toEqual([]);
    const next = await signIn(demo);
    expect(await verifiesWith(after, next.tokens.id_token as string)).toBe(true);
    const refreshed = await client.refreshTokenGrant(party.config, tokens.refresh_token as string);
    const again = await client.fetchUserInfo(
      party.config,
      refreshed.access_token,
      tokens.claims()?.sub ?? '',
    );
    expect(again.sub).toBe(tokens.claims()?.sub);
  });
});

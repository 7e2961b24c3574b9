import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import { CallerRole } from '../../../generated/proto/integration/operator/v1/service_tokens.js';
import { integration } from '../../cli/typed.js';
import { type ServiceProcess, serviceProcesses } from '../../support/service-process.js';
import { TestBrowser } from '../../support/test-browser.js';
import { clientIds, demoEnvironment } from './demo-environment.js';
import { call, Environment, type Person } from './environment.js';
import { type RegisteredApplication, RelyingParty, refusalOf, type Tokens } from './relying-party.js';

const environment = demoEnvironment();
const services = serviceProcesses();

let live: Environment;
let liveApplication: RegisteredApplication;
let livePerson: Person;

/** As an operator makes one: from nothing, with the commands and calls that there are. */
async function startLive(): Promise<{
  service: ServiceProcess;
  operatorToken: string;
  platformToken: string;
}> {
  const dataDir = `${services.newDirectory()}/live`;
  const made = await integration(['init', '--json'], { DATA_DIR: dataDir });
  const { operatorToken } = JSON.parse(made.stdout) as { operatorToken: string };
  const service = await services.start({ dataDir, env: { ENVIRONMENT: 'live' } });
  const first = new Environment(service, { operatorToken, platformToken: '' });
  const request = { role: CallerRole.PLATFORM, label: 'platform' };
  const { token } = await first.operator.createServiceToken(request, call());
  first.close();
  return { service, operatorToken, platformToken: token };
}

beforeAll(async () => {
  const { service, ...tokens } = await startLive();
  live = new Environment(service, tokens);
  const { instance } = await live.platform.createInstance({ name: 'Harborlight Payroll' }, call());
  const { client: made } = await live.platform.createClient(
    { instanceId: instance?.id ?? '', name: 'Tallowfern Bakeries' },
    call(),
  );
  liveApplication = await live.newApplication([instance?.id ?? '']);
  livePerson = await live.newPerson({ user: [made?.id ?? ''] });
});

afterAll(() => live?.close());

const liveParty = () => RelyingParty.of(live.url, liveApplication);

async function demoSignedIn() {
  const { demo } = environment;
  const person = await demo.newPerson({ user: [clientIds.tallowfern] });
  const application = await demo.newDemoApplication();
  const party = await demo.party(application);
  const browser = demo.browser();
  const tokens = await party.signIn(browser, person);
  return { demo, person, application, party, browser, tokens };
}

const subjectOf = (tokens: Tokens) => tokens.claims()?.sub ?? '';

test('only a demo runs an application of its own', async () => {
  const pageOf = (service: ServiceProcess) => fetch(`http://127.0.0.1:${service.settings.DEMO_APP_PORT}/`);
  expect((await pageOf(environment.demo.service)).status).toBe(200);
  await expect(pageOf(live.service)).rejects.toThrow('fetch failed');
  expect(await (await fetch(live.url)).text()).not.toContain('demo application');
});

describe('a live environment', () => {
  test('signs its own people in to its own applications, under its own issuer', async () => {
    const party = await liveParty();
    const browser = live.browser();
    const tokens = await party.signIn(browser, livePerson);
    expect(tokens.claims()).toMatchObject({ iss: live.url, sub: livePerson.accountId });
    expect(live.url).not.toBe(environment.demo.url);
    expect([...browser.cookies.keys()]).toEqual(['integration_session', 'integration_device']);
  });

  test('shows no banner, where demo says on each page what it is', async () => {
    const { demo, party } = await demoSignedIn();
    const banner = 'Demo environment.';
    expect((await party.pageOf(demo.browser())).text).toContain(banner);
    const page = await (await liveParty()).pageOf(live.browser());
    expect([page.heading, page.text]).toEqual(['Sign in', expect.not.stringContaining(banner)]);
  });

  test('has different keys', async () => {
    const [ours, theirs] = await Promise.all(
      [live.url, environment.demo.url].map(async (url) => {
        const { keys } = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as {
          keys: { kid: string; x?: string; n?: string }[];
        };
        return keys.flatMap(({ kid, x, n }) => [kid, x ?? n]);
      }),
    );
    expect(ours?.filter((part) => theirs?.includes(part))).toEqual([]);
  });
});

describe('to a live environment', () => {
  test('the cookie of demo is nothing, under its own name and under that of live', async () => {
    const { browser } = await demoSignedIn();
    const party = await liveParty();
    const [[name, value] = ['', '']] = [...browser.cookies];
    expect(name).toBe('integration_session_demo');
    for (const shown of [name, 'integration_session']) {
      const visitor = new TestBrowser(live.url);
      visitor.setCookie(shown, value);
      const { returned } = await party.tryToSignIn(visitor, {}, { prompt: 'none' });
      expect(returned.searchParams.get('error')).toBe('login_required');
    }
  });

  test('the people of demo, with their passwords, are unknown', async () => {
    const { email, password } = (await demoSignedIn()).person;
    const browser = live.browser();
    const page = await browser.press(await (await liveParty()).pageOf(browser), 'sign-in', {
      email,
      password,
    });
    expect(page.text).toContain('or the password is wrong.');
  });

  test('an application of demo gets an error page', async () => {
    const { party } = await demoSignedIn();
    const { address } = await party.begin();
    const page = await live.browser().open(new URL(address.pathname + address.search, live.url));
    expect([page.hasLeft, page.status, page.heading]).toEqual([false, 400, 'Something went wrong']);
  });

  test('a code of demo is no code', async () => {
    const { party, browser } = await demoSignedIn();
    const { returned, kept } = await party.tryToSignIn(browser);
    const here = await liveParty();
    const grant = client.genericGrantRequest(here.config, 'authorization_code', {
      code: returned.searchParams.get('code') ?? '',
      redirect_uri: here.redirectUri,
      code_verifier: kept.pkceCodeVerifier,
    });
    expect(await refusalOf(grant)).toBe('invalid_grant');
    // And it was not used up by that.
    expect(subjectOf(await party.exchange({ returned, kept }))).not.toBe('');
  });

  test('the tokens of demo are no tokens', async () => {
    const { tokens } = await demoSignedIn();
    const { config } = await liveParty();
    const userinfo = client.fetchUserInfo(config, tokens.access_token, subjectOf(tokens));
    expect(await refusalOf(userinfo)).toBe('invalid_token');
    const refresh = client.refreshTokenGrant(config, tokens.refresh_token as string);
    expect(await refusalOf(refresh)).toBe('invalid_grant');
    for (const token of [tokens.access_token, tokens.refresh_token as string]) {
      expect(await client.tokenIntrospection(config, token)).toEqual({ active: false });
    }
  });

  test('an ID token of demo is ignored as a hint: it selects no person, and ends no session', async () => {
    const { tokens } = await demoSignedIn();
    const party = await liveParty();
    const browser = live.browser();
    await party.signIn(browser, livePerson);
    const hint = { id_token_hint: tokens.id_token as string };
    const { returned } = await party.tryToSignIn(browser, {}, { ...hint, prompt: 'none' });
    expect(returned.searchParams.get('error')).toBe('login_required');
    const page = await browser.open(`/auth/logout?${new URLSearchParams(hint)}`);
    expect([page.hasLeft, page.heading]).toEqual([false, 'Sign out?']);
  });
});

describe('a secret of the other environment', () => {
  const refusalWith = async (
    url: string,
    { clientId }: RegisteredApplication,
    secret: string | undefined,
  ) => {
    const response = await fetch(`${url}/auth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: 'any',
        client_id: clientId,
        client_secret: secret ?? '',
      }),
    });
    return { status: response.status, ...((await response.json()) as object) };
  };

  test('is answered with a sentence that names its environment', async () => {
    const { demo, application } = await demoSignedIn();
    expect(await refusalWith(live.url, liveApplication, application.clientSecret)).toEqual({
      status: 400,
      error: 'invalid_client',
      error_description: 'This secret belongs to the demo environment, and this is the live environment.',
    });
    expect(await refusalWith(demo.url, application, liveApplication.clientSecret)).toEqual({
      status: 400,
      error: 'invalid_client',
      error_description: 'This secret belongs to the live environment, and this is the demo environment.',
    });
  });
});

import { once } from 'node:events';
import { get } from 'node:http';
import { expect } from '@jest/globals';
import { apps, instanceIds } from '../flow/sign-on/demo-environment.js';
import { call } from '../flow/sign-on/environment.js';
import { walk } from '../flow/sign-on/walk.js';
import { freePorts } from '../support/free-ports.js';
import type { RunningProgram } from './running-program.js';
import { signingServer } from './signing-server.js';
import type { Story } from './stories.js';

/** Another application of the host sets a cookie too, whose name ends like that of the program. */
const OTHERS_COOKIE = '_other_session=of-another';

/** A sign-in and a sign-out; then a callback that answers no request. */
export const signIn: Story = async ({ demo, linesOf, start }) => {
  const [port = 0] = await freePorts(1);
  const application = `http://localhost:${port}`;
  const redirectUri = `${application}/callback`;
  const { clientId, clientSecret = '' } = demo.application(apps.portal);
  const registered = { uri: redirectUri, instanceId: instanceIds.harborlight };
  await demo.operator.addRedirectUri({ applicationId: clientId, redirectUri: registered }, call());
  const program = await start({
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret,
    REDIRECT_URI: redirectUri,
  });
  await program.printed(1);

  const browser = demo.browser();
  const asked = await visit(`${application}/login`);
  // As the guide says of a person who has not come back from the sign-in and its consent page.
  expect((await visit(`${application}/logout`, asked.cookie)).status).toBe(404);
  const { end } = await walk(browser, await browser.open(asked.location), demo.demoPerson('user'));
  const returned = await visit(end.url.href, asked.cookie);
  // The id from before the sign-in, which an attacker may have planted, names no session.
  expect((await visit(`${application}/logout`, asked.cookie)).location).toBe('');
  const left = await visit(`${application}/logout`, returned.cookie);
  // With a post_logout_redirect_uri, it is needed where the hint cannot be read any more.
  expect(new URL(left.location).searchParams.get('client_id')).toBe(clientId);
  await browser.open(left.location);

  const askedAgain = await visit(`${application}/login`);
  await visit(`${redirectUri}?code=stolen&state=another`, askedAgain.cookie);
  const output = await program.printed(linesOf(0));
  await program.stop();
  return [
    !browser.cookies.has('integration_session_demo')
      ? output
      : `The session at the server goes on.\n${output}`,
  ];
};

type Start = (issuer: string, env: Record<string, string>) => Promise<RunningProgram>;

/** The status of what a browser gets that returns while nothing listens at the address of the server. */
export async function returnWithoutServer(start: Start): Promise<number> {
  const [port = 0, closed = 0] = await freePorts(2);
  const issuer = `http://localhost:${closed}`;
  const redirectUri = `http://localhost:${port}/callback`;
  const env = { CLIENT_ID: 'app_1', CLIENT_SECRET: 'secret', REDIRECT_URI: redirectUri };
  const program = await start(issuer, env);
  await program.printed(1);
  const asked = await visit(`http://localhost:${port}/login`);
  const { origin, searchParams } = new URL(asked.location);
  expect(origin).toBe(issuer);
  const answer = new URLSearchParams({ code: 'code', state: searchParams.get('state') ?? '', iss: issuer });
  const { status } = await visit(`${redirectUri}?${answer}`, asked.cookie);
  await program.stop();
  return status;
}

const secondsNow = () => Math.floor(Date.now() / 1000);

/** The claims of an ID token that must be refused, by what is wrong with it. */
const INVALID = {
  'signed with another key': {},
  'of another issuer': { iss: 'http://localhost:1' },
  'for another application': { aud: 'app_2' },
  'of another sign-in': { nonce: 'another' },
  'that has expired': { iat: secondsNow() - 7200, exp: secondsNow() - 3600 },
};

/**
 * The status that a browser gets for a good ID token and for each invalid one, after a stranger has sent a
 * request whose address cannot be parsed.
 */
export async function returnWithIdTokens(start: Start): Promise<Record<string, number>> {
  const [port = 0, serverPort = 0] = await freePorts(2);
  const redirectUri = `http://localhost:${port}/callback`;
  const server = await signingServer(serverPort);
  const { issuer } = server;
  const env = { CLIENT_ID: 'app_1', CLIENT_SECRET: 'secret', REDIRECT_URI: redirectUri };
  const program = await start(issuer, env);
  const statuses: Record<string, number> = {};
  try {
    await program.printed(1);
    const [answered] = await once(get({ host: 'localhost', port, path: '//[' }), 'response');
    answered.resume();
    for (const [what, changes] of Object.entries({ good: {}, ...INVALID })) {
      const asked = await visit(`http://localhost:${port}/login`);
      const { searchParams } = new URL(asked.location);
      const claims = {
        ...{ iss: issuer, aud: 'app_1', iat: secondsNow(), exp: secondsNow() + 3600 },
        ...{ sub: 'acc_EUgY3HzXMd8Ka4yIM4g5UF', workerProfileId: 'wpf_Q25xTh8zHAjHa1xEtxDPHH' },
        ...{ userIds: [], workerIds: [], nonce: searchParams.get('nonce') },
        lastLoginContext: { userType: 'USER', clientId: 'cli_x9sS1bFSklla6YZ7pnS811' },
        ...changes,
      };
      await server.gives(claims, what === 'signed with another key');
      const answer = new URLSearchParams({ code: 'c', state: searchParams.get('state') ?? '', iss: issuer });
      statuses[what] = (await visit(`${redirectUri}?${answer}`, asked.cookie)).status;
    }
  } finally {
    await program.stop();
    server.stop();
  }
  return statuses;
}

export const refusesInvalid = {
  good: 200,
  ...Object.fromEntries(Object.keys(INVALID).map((what) => [what, 400])),
};

/** The cookie is that of before unless the application sets another. */
async function visit(address: string, cookie = '') {
  const sent = [OTHERS_COOKIE, cookie].filter(Boolean).join('; ');
  const { status, headers } = await fetch(address, { redirect: 'manual', headers: { cookie: sent } });
  const [held = cookie] = headers.get('set-cookie')?.split(';') ?? [];
  return { status, location: headers.get('location') ?? '', cookie: held };
}

import { expect } from '@jest/globals';
import { apps, instanceIds } from '../flow/sign-on/demo-environment.js';
import { call } from '../flow/sign-on/environment.js';
import { walk } from '../flow/sign-on/walk.js';
import { freePorts } from '../support/free-ports.js';
import type { RunningProgram } from './running-program.js';
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

/** The status of what a browser gets that returns while nothing listens at the address of the server. */
export async function returnWithoutServer(
  start: (issuer: string, env: Record<string, string>) => Promise<RunningProgram>,
): Promise<number> {
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

/** The cookie is that of before unless the application sets another. */
async function visit(address: string, cookie = '') {
  const sent = [OTHERS_COOKIE, cookie].filter(Boolean).join('; ');
  const { status, headers } = await fetch(address, { redirect: 'manual', headers: { cookie: sent } });
  const [held = cookie] = headers.get('set-cookie')?.split(';') ?? [];
  return { status, location: headers.get('location') ?? '', cookie: held };
}

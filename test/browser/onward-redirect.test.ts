import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApplicationType } from '../../generated/proto/integration/operator/v1/applications.js';
import { SigningAlgorithm } from '../../generated/proto/integration/operator/v1/signing_keys.js';
import { clientIds, demoEnvironment, instanceIds } from '../flow/sign-on/demo-environment.js';
import { call } from '../flow/sign-on/environment.js';
import { chromiumVisits } from '../support/chromium.js';
import { listenOnLoopback } from '../support/loopback.js';
import { selfSignedCertificate } from '../support/self-signed-certificate.js';
import { describeWith } from '../support/toolchains.js';
import { at, fillSignIn, pressAllow } from './sign-on-in-chromium.js';

/** Without a known verifier: these codes are never exchanged. */
const CODE_CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** An application that takes the answer at one origin and has its pages at another. */
function applicationOfTwoOrigins() {
  const { certificate, key } = selfSignedCertificate();
  const pages = createSecureServer({ cert: certificate, key }, (_request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><html lang="en"><title>Rota Planner</title><h1>Welcome home</h1>');
  });
  const sendOn: RequestListener = (request, response) => {
    response.writeHead(302, { location: new URL(request.url ?? '/', originOf(pages, 'https')).href }).end();
  };
  const callback = createServer(sendOn);
  const servers = [pages, callback];
  beforeAll(async () => {
    for (const server of servers) {
      await listenOnLoopback(server);
    }
  });
  afterAll(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });
  return {
    at: (path: string) => `${originOf(callback, 'http')}${path}`,
    pageAt: (path: string) => `${originOf(pages, 'https')}${path}`,
  };
}

function originOf(server: Server, scheme: 'http' | 'https'): string {
  return `${scheme}://localhost:${(server.address() as AddressInfo).port}`;
}

describeWith('chromium', 'an application that sends people on from where they come back', (executable) => {
  const environment = demoEnvironment();
  const { visit } = chromiumVisits(executable);
  const application = applicationOfTwoOrigins();
  let clientId = '';

  beforeAll(async () => {
    const registered = await environment.demo.operator.createApplication(
      {
        name: 'Rota Planner',
        type: ApplicationType.CONFIDENTIAL,
        redirectUris: [{ uri: application.at('/callback'), instanceId: instanceIds.harborlight }],
        postLogoutRedirectUris: [application.at('/signed-out')],
        allowedScopes: [],
        allowedGrantTypes: [],
        firstParty: false,
        signOutEndsTokens: false,
        idTokenAlgorithm: SigningAlgorithm.RS256,
      },
      call(),
    );
    clientId = registered.application?.id ?? '';
  });

  const addressOf = (path: string, parameters: Record<string, string>) =>
    `${environment.demo.url}${path}?${new URLSearchParams({ client_id: clientId, ...parameters })}`;

  test('has them at its page in the end, from the consent page and from the sign-out page', async () => {
    const { page } = await visit({ ignoreHTTPSErrors: true });
    const asked = {
      response_type: 'code',
      redirect_uri: application.at('/callback'),
      scope: 'openid',
      code_challenge: CODE_CHALLENGE,
      code_challenge_method: 'S256',
    };
    await page.goto(addressOf('/auth/authorize', asked));
    await fillSignIn(page, await environment.demo.newPerson({ worker: [clientIds.tallowfern] }));
    await at(page, /^Allow /);
    await pressAllow(page);
    await at(page, 'Welcome home');
    expect(page.url()).toContain(`${application.pageAt('/callback')}?code=`);

    const post_logout_redirect_uri = application.at('/signed-out');
    await page.goto(addressOf('/auth/logout', { post_logout_redirect_uri }));
    await page.click('#sign-out');
    await at(page, 'Welcome home');
    expect(page.url()).toBe(application.pageAt('/signed-out'));
  });
});

import type { DemoFileApplication } from './demo-file.js';

/** Stands in for an application: an address to open, and the call that exchanges the code. */
export interface SignInTrial {
  address: string;
  exchange: string;
}

/** For an application without PKCE, which is hard to compute by hand. */
export function signInTrial(
  baseUrl: string | undefined,
  applications: readonly DemoFileApplication[],
): SignInTrial | undefined {
  const application = applications.find(
    ({ clientSecret, requirePkce }) => clientSecret !== undefined && !requirePkce,
  );
  const redirectUri = application?.redirectUris[0]?.uri;
  if (baseUrl === undefined || application === undefined || redirectUri === undefined) {
    return undefined;
  }
  const { clientId, clientSecret, scopes } = application;
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state: 'demo',
  });
  return {
    address: `${baseUrl}/auth/authorize?${query}`,
    exchange: [
      `curl -s ${baseUrl}/auth/token -u '${clientId}:${clientSecret}'`,
      '-d grant_type=authorization_code',
      `-d redirect_uri=${redirectUri} -d code=…`,
    ].join(' '),
  };
}

import type { DemoFileApplication } from './demo-file.js';

/** What stands in for an application that has yet to be written: an address to open, and a call with the code that it leads to. */
export interface SignInTrial {
  address: string;
  exchange: string;
}

/** For an application that may do without PKCE, which nobody computes by hand. */
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

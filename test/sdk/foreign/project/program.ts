/** What an integrator might write on top of the types that openapi-typescript makes. */
import createClient from 'openapi-fetch';
import type { components as Gateway, paths as GatewayPaths } from './gateway.js';
import type { components as SignOn, paths as SignOnPaths } from './sign-on.js';

const { GATEWAY_URL = '', SIGN_ON_URL = '', API_KEY = '', INSTANCE_INTEGRATION = '' } = process.env;

async function clients(): Promise<Gateway['schemas']['TenantClient'][]> {
  const gateway = createClient<GatewayPaths>({ baseUrl: GATEWAY_URL, headers: { 'x-api-key': API_KEY } });
  const { data, error } = await gateway.GET('/v1/instance-integrations/{instanceIntegrationId}/clients', {
    params: { path: { instanceIntegrationId: INSTANCE_INTEGRATION } },
  });
  if (!data) {
    throw new Error(JSON.stringify(error));
  }
  return data;
}

async function tokens(): Promise<SignOn['schemas']['IssuedTokens']> {
  const signOn = createClient<SignOnPaths>({ baseUrl: SIGN_ON_URL });
  const { data, error } = await signOn.POST('/auth/token', {
    body: {
      grant_type: 'authorization_code',
      code: 'kTmAy0IngJVyw9QKvhdKQPU__LhboUjX8ItW9fJA0jQ',
      client_id: 'app_GRiNdE2svJ6Uj1h5qWVsYI',
      client_secret: 'cs_live_3vQ8mTzK1xWbN6pRdY9sLcHf4GjUeA7oZiXtV2nMqBkR5wPy',
      redirect_uri: 'https://app.example.com/callback',
    },
  });
  if (!data) {
    throw new Error(JSON.stringify(error));
  }
  return data;
}

const lines = (await clients()).map(({ id, name }) => `${id} ${name}`);
const { token_type, expires_in, access_token, id_token } = await tokens();
lines.push([token_type, expires_in, access_token, id_token].join(' '));
process.stdout.write(`${lines.join('\n')}\n`);

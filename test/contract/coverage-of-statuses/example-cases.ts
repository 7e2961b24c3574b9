import { GrantType } from '../../../generated/proto/integration/operator/v1/applications.js';
import { newApiKey } from '../../../src/identifiers/api-key.js';
import { credentialsOf, redirectUriOf } from '../../attacks/attacked-service.js';
import { ownIds, unconfigured, unknownIds } from '../../gateway/demo-paths.js';
import {
  type GatewayOperation,
  gatewayOperations,
  idNamesOf,
  isInQuery,
  pathOf,
} from '../../support/gateway/operations.js';
import { type Exchange, exchange, type Question } from '../../support/http-exchange.js';
import type { CoveredService } from './covered-service.js';
import { EXPIRED_CURSOR } from './gateway-cases.js';
import { accessToken } from './sign-on-walks.js';
import type { Api } from './status-case.js';

/** Causes an example that no case of a status causes. */
export interface ExampleCase {
  api: Api;
  operationId: string;
  example: string;
  ask(service: CoveredService): Promise<Exchange>;
}

interface GatewayWay {
  headers?(service: CoveredService): Question['headers'];
  ids?: Record<string, string>;
  query?: string;
  /** Only operations with this id in their path. */
  needs?: string;
  /** Only this operation. */
  only?: string;
}

const keyed = (key: (service: CoveredService) => string) => (service: CoveredService) => ({
  'x-api-key': key(service),
});

const GATEWAY: Record<string, GatewayWay> = {
  wrongId: { ids: { ...ownIds, clientId: 'cli_short' }, needs: 'clientId' },
  keyInQuery: { query: 'api_key=x' },
  cursorExpired: { query: `after=${EXPIRED_CURSOR}`, only: 'listChanges' },
  malformed: { headers: keyed((service) => service.apiKey().slice(0, -1)) },
  unknown: { headers: keyed(() => newApiKey('demo')) },
  expired: { headers: keyed((service) => service.expiredApiKey()) },
  wrongEnvironmentOfDemo: { headers: keyed(() => newApiKey('live')) },
  instanceIntegrationNotConfigured: {
    ids: { ...ownIds, instanceIntegrationId: unconfigured },
    needs: 'instanceIntegrationId',
  },
  clientNotFound: { ids: { ...ownIds, clientId: unknownIds.clientId }, needs: 'clientId' },
  userNotFound: { ids: { ...ownIds, userId: unknownIds.userId }, needs: 'userId' },
  workerNotFound: { ids: { ...ownIds, workerId: unknownIds.workerId }, needs: 'workerId' },
};

/** The example of a wrong id is one of a path. */
function isInPath(operation: GatewayOperation, example: string, name: string): boolean {
  return idNamesOf(operation).includes(name) && (example !== 'wrongId' || !isInQuery(operation, name));
}

const gatewayCases: ExampleCase[] = Object.entries(GATEWAY).flatMap(
  ([example, { headers = keyed((service) => service.apiKey()), ids = ownIds, query, needs, only }]) =>
    gatewayOperations
      .filter((operation) => needs === undefined || isInPath(operation, example, needs))
      .filter(({ operationId }) => only === undefined || operationId === only)
      .map((operation) => ({
        api: 'gateway' as const,
        operationId: operation.operationId,
        example,
        ask: (service) => service.gateway(pathOf(operation, ids, query), { headers: headers(service) }),
      })),
);

type Ask = ExampleCase['ask'];

const portal = ({ signOn }: CoveredService) => credentialsOf(signOn.portal);

const posting =
  (
    path: string,
    fields: (service: CoveredService) => Record<string, string> | Promise<Record<string, string>>,
  ): Ask =>
  async (service) =>
    service.signOn.call(path, await fields(service));

const refreshToken = async (service: CoveredService, application: 'portal' | 'dashboard') => {
  const { signOn } = service;
  return (await signOn.tokens(await signOn.signedIn(), signOn[application])).refresh_token;
};

const userinfo =
  (
    method: string,
    target: string,
    headers: (service: CoveredService) => Promise<Question['headers']>,
    body?: string,
  ): Ask =>
  async (service) =>
    exchange(service.signOn.port, target, { method, headers: await headers(service), ...(body && { body }) });

const FORM = 'application/x-www-form-urlencoded';

const SIGN_ON: Record<string, Ask> = {
  'token invalidRequest': posting('/auth/token', (service) => ({
    ...portal(service),
    grant_type: 'authorization_code',
    code: 'x',
  })),
  'token invalidClient': posting('/auth/token', (service) => ({
    ...portal(service),
    client_secret: `cs_demo_${'x'.repeat(48)}`,
    grant_type: 'refresh_token',
    refresh_token: 'x',
  })),
  'token wrongEnvironment': posting('/auth/token', (service) => ({
    ...portal(service),
    client_secret: `cs_live_${'x'.repeat(48)}`,
    grant_type: 'refresh_token',
    refresh_token: 'x',
  })),
  'token invalidGrant': posting('/auth/token', (service) => ({
    ...portal(service),
    grant_type: 'authorization_code',
    code: 'x'.repeat(43),
    redirect_uri: redirectUriOf(service.signOn.portal),
  })),
  'token unauthorizedClient': async (service) => {
    const { signOn } = service;
    const application = await signOn.register({
      name: 'Codes only',
      allowedGrantTypes: [GrantType.AUTHORIZATION_CODE],
    });
    return signOn.refresh(application, 'x');
  },
  'token unsupportedGrantType': posting('/auth/token', (service) => ({
    ...portal(service),
    grant_type: 'password',
  })),
  'token invalidScope': async (service) => {
    const { signOn } = service;
    const fresh = await signOn.freshCode(await signOn.signedIn(), signOn.portal, { scope: 'openid profile' });
    const { refresh_token } = JSON.parse((await signOn.redeem(fresh)).body) as { refresh_token: string };
    const fields = { ...portal(service), grant_type: 'refresh_token', refresh_token, scope: 'openid email' };
    return signOn.call('/auth/token', fields);
  },
  'revoke invalidRequest': posting('/auth/revoke', portal),
  'revoke invalidGrant': posting('/auth/revoke', async (service) => ({
    ...portal(service),
    token: await refreshToken(service, 'dashboard'),
  })),
  'introspect invalidRequest': posting('/auth/introspect', portal),
  'introspect unauthorizedClient': posting('/auth/introspect', ({ signOn }) => ({
    client_id: signOn.mobile.clientId,
    token: 'x',
  })),
  'userinfoPost twoTokens': userinfo(
    'POST',
    '/auth/userinfo',
    async () => ({ 'content-type': FORM, authorization: 'Bearer x' }),
    'access_token=x',
  ),
  'userinfo missing': userinfo('GET', '/auth/userinfo', async () => ({})),
  'userinfo insufficientScope': userinfo('GET', '/auth/userinfo', async (service) => ({
    authorization: `Bearer ${await accessToken(service, { scope: 'profile' })}`,
  })),
};

export const exampleCases: ExampleCase[] = [
  ...gatewayCases,
  ...Object.entries(SIGN_ON).map(([name, ask]) => {
    const [operationId = '', example = ''] = name.split(' ');
    return { api: 'sign-on' as const, operationId, example, ask };
  }),
];

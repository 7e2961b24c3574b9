import { createHash } from 'node:crypto';
import type { DemoFileApplication } from '../../../src/cli/demo/demo-file.js';
import { basicOf, credentialsOf, redirectUriOf } from '../../attacks/attacked-service.js';
import { contractDocument } from '../../support/contract/contract-document.js';
import { type Exchange, exchange } from '../../support/http-exchange.js';
import type { CoveredService } from './covered-service.js';

type Fields = Record<string, string>;

interface RequestExample {
  path: string;
  /** Of the document's examples. */
  example: string;
  types: readonly ('json' | 'form')[];
  application: 'portal' | 'mobile';
  /** What is the application's own, or works once. */
  own(service: CoveredService, application: DemoFileApplication): Fields | Promise<Fields>;
  isBasic?: true;
}

const { examples } = contractDocument('sign-on').components as {
  examples: Record<string, { value: Fields }>;
};

const documentedFields = (example: string): Fields => examples[example]?.value ?? {};

/** With the documented code verifier. */
async function code({ signOn }: CoveredService, application: DemoFileApplication): Promise<Fields> {
  const { code_verifier = '' } = documentedFields('CodeGrantConfidential');
  const challenge = createHash('sha256').update(code_verifier).digest('base64url');
  const userAgent = await signOn.signedIn();
  const fresh = await signOn.freshCode(userAgent, application, { code_challenge: challenge });
  return { code: fresh.code, redirect_uri: redirectUriOf(application) };
}

const credentials = (_: CoveredService, application: DemoFileApplication) => credentialsOf(application);

const BOTH = ['json', 'form'] as const;

export const requestExamples: RequestExample[] = [
  {
    path: '/auth/token',
    example: 'CodeGrantConfidential',
    types: BOTH,
    application: 'portal',
    own: async (service, application) => ({
      ...credentialsOf(application),
      ...(await code(service, application)),
    }),
  },
  {
    path: '/auth/token',
    example: 'CodeGrantPublic',
    types: BOTH,
    application: 'mobile',
    own: async (service, application) => ({
      client_id: application.clientId,
      ...(await code(service, application)),
    }),
  },
  {
    path: '/auth/token',
    example: 'CodeGrantBasic',
    types: ['form'],
    application: 'portal',
    own: code,
    isBasic: true,
  },
  {
    path: '/auth/token',
    example: 'RefreshGrant',
    types: BOTH,
    application: 'portal',
    own: async ({ signOn }, application) => ({
      ...credentialsOf(application),
      refresh_token: (await signOn.tokens(await signOn.signedIn(), application)).refresh_token,
    }),
  },
  {
    path: '/auth/revoke',
    example: 'RevocationRequest',
    types: BOTH,
    application: 'portal',
    own: credentials,
  },
  {
    path: '/auth/introspect',
    example: 'IntrospectionRequest',
    types: BOTH,
    application: 'portal',
    own: credentials,
  },
];

/** Sends an example with the fields of a registered application in place of the documented ones. */
export async function sendExample(
  service: CoveredService,
  { path, example, application, own, isBasic }: RequestExample,
  type: 'json' | 'form',
): Promise<Exchange> {
  const registered = service.signOn[application];
  const replaced = await own(service, registered);
  const documented = documentedFields(example);
  const added = Object.keys(replaced).filter((name) => !(name in documented));
  if (added.length > 0) {
    throw new Error(`The example ${example} lacks ${added.join(', ')}.`);
  }
  const fields = { ...documented, ...replaced };
  return exchange(service.signOn.port, path, {
    method: 'POST',
    headers: {
      'content-type': type === 'json' ? 'application/json' : 'application/x-www-form-urlencoded',
      ...(isBasic && { authorization: basicOf(registered) }),
    },
    body: type === 'json' ? JSON.stringify(fields) : String(new URLSearchParams(fields)),
  });
}

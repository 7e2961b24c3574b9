import type { AccountId, ClientId } from '../../../../generated/ids.js';
import type { Application } from '../../../../src/domain/operator/rows/applications.js';
import type { Identity } from '../../../../src/domain/sign-on/identity.js';
import type { AuthorizationRequest } from '../../../../src/domain/sign-on/interaction/interactions.js';
import type { ContextChoice } from '../../../../src/domain/sign-on/interaction/login-contexts.js';
import type { Situation } from '../../../../src/domain/sign-on/interaction/next-step.js';

export const CALLBACK = 'https://app.example.com/callback';
export const NOW = 1_790_000_000_000;
export const SIGNED_IN_AT = NOW - 60_000;
export const ADA = 'acc_ada' as AccountId;
export const BEN = 'acc_ben' as AccountId;

const application = {
  id: 'app_1',
  enabled: true,
  firstParty: false,
  allowedScopes: ['openid', 'email'],
  allowedGrantTypes: ['authorization_code'],
  redirectUris: [{ uri: CALLBACK, instanceId: 'ins_1' }],
} as Partial<Application> as Application;

const request: AuthorizationRequest = {
  kind: 'authorization',
  applicationId: 'app_1',
  redirectUri: CALLBACK,
  instanceId: 'ins_1',
  scopes: ['openid', 'email'],
  state: null,
  nonce: null,
  codeChallenge: null,
  prompts: [],
  maxAgeSeconds: null,
  loginHint: null,
  hintedAccountId: null,
  query: '',
};

export function context(clientId: string, userType: ContextChoice['userType'] = 'USER'): ContextChoice {
  const memberId = `${userType}_${clientId}`;
  return {
    userType,
    clientId: clientId as ClientId,
    memberId,
    clientName: '',
    roleName: null,
    firstName: null,
    lastName: null,
    fullName: null,
    invited: false,
  };
}

export const A = context('cli_a');
export const B = context('cli_b');

export function person(fields: Partial<Identity> & { disabledAt?: number } = {}): Identity {
  const { disabledAt = null, ...identity } = fields;
  const account = { id: ADA, disabledAt } as Identity['account'];
  return { account, contexts: [A], lastContext: undefined, ...identity };
}

export interface Changed extends Partial<Omit<Situation, 'request' | 'application'>> {
  request?: Partial<AuthorizationRequest>;
  application?: Partial<Application> | undefined;
}

/** Ada, signed in a minute ago, with one context, who has approved everything before. */
export function situation({ request: asked, application: as, ...rest }: Changed = {}): Situation {
  return {
    request: { ...request, ...asked },
    silent: false,
    application: { ...application, ...as },
    signedIn: { id: ADA, authenticatedAt: SIGNED_IN_AT },
    identity: person(),
    progress: {},
    approvedScopes: ['openid', 'email'],
    now: NOW,
    ...rest,
  };
}

import type { AccountId, InstanceId } from '../../../../generated/ids.js';
import type { Application } from '../../operator/rows/applications.js';
import type { AuthorizationRequest } from '../interaction/interactions.js';
import type { TokenKeys } from '../keys/signing.js';
import type { Asker, Refusal } from './authorization-answer.js';
import {
  type AuthorizationParameters,
  faultOfParameter,
  queryOf,
  withoutEmpty,
} from './authorization-parameters.js';
import { REQUEST_STEPS, type RequestParts } from './authorization-steps.js';
import { faultOfFormPost, registeredRedirect } from './redirect-target.js';
import { withSubject } from './requested-claims.js';

export interface AcceptedRequest {
  request: AuthorizationRequest;
  application: Application;
  /** No page may be shown. */
  silent: boolean;
}

/** A request whose redirect target is proven: from here on, errors go to the application by redirect. */
export interface ProvenRequest {
  parameters: AuthorizationParameters;
  application: Application;
  redirectUri: string;
  instanceId: InstanceId;
  asker: Asker;
}

/** Comes first, for the safety of every redirect. Returns what is wrong, for a page of our own. */
export async function proveTarget(
  findApplication: (id: string) => Promise<Application | undefined>,
  given: AuthorizationParameters,
): Promise<ProvenRequest | string> {
  const parameters = withoutEmpty(given);
  const { clientId, redirectUri } = parameters;
  const fault = faultOfParameter(parameters, 'clientId') ?? faultOfParameter(parameters, 'redirectUri');
  if (fault !== undefined) {
    return fault;
  }
  if (clientId === undefined) {
    return 'client_id is missing.';
  }
  const application = await findApplication(clientId);
  if (!application) {
    return 'client_id is not that of a registered application.';
  }
  if (redirectUri === undefined) {
    return 'redirect_uri is missing.';
  }
  const registered = registeredRedirect(application, redirectUri);
  if (!registered) {
    return 'redirect_uri is not registered for this application; it must be equal character by character.';
  }
  const asker = askerOf(parameters, registered.uri, application);
  const instanceId = registered.instanceId as InstanceId;
  return { parameters, application, redirectUri: registered.uri, instanceId, asker };
}

/** Checks the rest in order. */
export async function judgeRequest(
  keys: Pick<TokenKeys, 'read'>,
  proven: ProvenRequest,
): Promise<AcceptedRequest | Refusal> {
  const { parameters, application, redirectUri, instanceId, asker } = proven;
  const parts: RequestParts = { ...NOTHING_ASKED };
  const context = { ...proven, keys };
  for (const check of REQUEST_STEPS) {
    const outcome = await check(context);
    if ('error' in outcome) {
      return outcome;
    }
    if (!agree(parts.hintedAccountId, outcome.hintedAccountId)) {
      return { error: 'invalid_request', description: 'id_token_hint and claims name different people.' };
    }
    Object.assign(parts, outcome);
  }
  const { silent, ...asked } = parts;
  const request: AuthorizationRequest = {
    kind: 'authorization',
    applicationId: application.id,
    redirectUri,
    instanceId,
    state: asker.state,
    responseMode: asker.responseMode ?? 'query',
    ...asked,
    query: queryOf(withoutToken(parameters, asked.hintedAccountId)),
  };
  return { request, application, silent };
}

/** Returns no state that is repeated or malformed, and uses no response mode that is. */
function askerOf(parameters: AuthorizationParameters, redirectUri: string, { name }: Application): Asker {
  const given = (one: 'state' | 'responseMode') =>
    faultOfParameter(parameters, one) === undefined ? parameters[one] : undefined;
  const state = given('state') ?? null;
  const isPosted = given('responseMode') === 'form_post' && faultOfFormPost(redirectUri, state) === undefined;
  return { redirectUri, state, responseMode: isPosted ? 'form_post' : 'query', applicationName: name };
}

const NOTHING_ASKED: RequestParts = {
  scopes: [],
  nonce: null,
  codeChallenge: null,
  prompts: [],
  silent: false,
  maxAgeSeconds: null,
  loginHint: null,
  hintedAccountId: null,
};

/** Replaces an ID token, which is not stored, by `claims` for the same person. Ignores an unreadable one. */
function withoutToken(
  { idTokenHint, ...parameters }: AuthorizationParameters,
  hintedAccountId: AccountId | null,
): AuthorizationParameters {
  return idTokenHint === undefined || hintedAccountId === null
    ? parameters
    : { ...parameters, claims: withSubject(parameters.claims, hintedAccountId) };
}

function agree(one: AccountId | null, other: AccountId | null | undefined): boolean {
  return one === null || other === null || other === undefined || one === other;
}

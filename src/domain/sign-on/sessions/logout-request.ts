import type { Application } from '../../operator/rows/applications.js';
import { isKeepable } from '../authorization/authorization-parameters.js';
import { isRegisteredForLogout } from '../authorization/redirect-target.js';
import type { SignOutRequest } from '../interaction/interactions.js';
import { MAX_ID_TOKEN_LENGTH, type ReadIdToken } from '../keys/signing.js';
import type { SignOn, SignOnRows } from '../sign-on.js';

interface LogoutFault {
  /** What is wrong, for the person. */
  message: string;
  developerMessage: string;
}

const MAX_LENGTHS = {
  idTokenHint: MAX_ID_TOKEN_LENGTH,
  clientId: 64,
  postLogoutRedirectUri: 2_048,
  state: 4_096,
  logoutHint: 320,
  uiLocales: 256,
};

/** A sign-out request as received. */
export type LogoutParameters = { [Name in keyof typeof MAX_LENGTHS]?: string } & {
  /** Wire names. */
  repeatedNames: readonly string[];
};

const UNREADABLE = 'An application asks to sign you out, and its request cannot be read.';

/** The hint of whom to sign out and the return address, if proven to be the application's. */
export async function judgeLogout(
  { unitOfWork: { rows }, keys }: Pick<SignOn, 'unitOfWork' | 'keys'>,
  parameters: LogoutParameters,
): Promise<{ request: SignOutRequest; hint: ReadIdToken | undefined } | LogoutFault> {
  const fault = faultOf(parameters);
  if (fault !== undefined) {
    return { message: UNREADABLE, developerMessage: fault };
  }
  const { idTokenHint, clientId, postLogoutRedirectUri: uri, state } = parameters;
  // An unreadable hint, such as after its key was withdrawn, counts as absent: the person is asked.
  const hint = idTokenHint ? await keys.read(idTokenHint) : undefined;
  if (hint && clientId && hint.applicationId !== clientId) {
    const message = 'The request to sign out names two different applications.';
    const developerMessage = 'id_token_hint and client_id name different applications.';
    return { message, developerMessage };
  }
  const namedId = hint?.applicationId ?? (clientId || undefined);
  const application = namedId === undefined ? undefined : await rows.applications.find(namedId);
  const faultOfTarget = faultOfApplication(namedId, application) ?? faultOfUri(application, uri);
  if (faultOfTarget !== undefined) {
    return faultOfTarget;
  }
  const request: SignOutRequest = {
    kind: 'sign_out',
    applicationId: application?.id ?? null,
    postLogoutRedirectUri: uri || null,
    state: state || null,
  };
  return { request, hint };
}

/** As it is now: the operator may have withdrawn the address or disabled the application since. */
export async function presentRequest(
  { applications }: Pick<SignOnRows, 'applications'>,
  request: SignOutRequest,
): Promise<SignOutRequest> {
  const { applicationId, postLogoutRedirectUri: uri } = request;
  const application = applicationId === null ? undefined : await applications.find(applicationId);
  const isProven = uri !== null && application?.enabled && isRegisteredForLogout(application, uri);
  return isProven ? request : { ...request, postLogoutRedirectUri: null };
}

function faultOf(parameters: LogoutParameters): string | undefined {
  const [repeated] = parameters.repeatedNames;
  if (repeated !== undefined) {
    return `${repeated} is sent more than once.`;
  }
  const names = Object.keys(MAX_LENGTHS) as (keyof typeof MAX_LENGTHS)[];
  return names.every((name) => isKeepable(parameters[name] ?? '', MAX_LENGTHS[name]))
    ? undefined
    : 'A parameter is too long or has characters that cannot be kept.';
}

function faultOfApplication(
  id: string | undefined,
  application: Application | undefined,
): LogoutFault | undefined {
  if (id !== undefined && !application) {
    return {
      message: 'The application that asks to sign you out is not registered here.',
      developerMessage: 'client_id is not that of a registered application.',
    };
  }
  return application && !application.enabled
    ? {
        message: `${application.name} asks to sign you out, and is disabled.`,
        developerMessage: 'The application is disabled.',
      }
    : undefined;
}

function faultOfUri(application: Application | undefined, uri: string | undefined): LogoutFault | undefined {
  if (!uri) {
    return undefined;
  }
  if (!application) {
    return {
      message: 'An application asks to have you back after signing out, without saying which one it is.',
      developerMessage: 'post_logout_redirect_uri needs client_id, or an id_token_hint that can be read.',
    };
  }
  return isRegisteredForLogout(application, uri)
    ? undefined
    : {
        message: `${application.name} asks to have you back after signing out at an address that is not registered for it.`,
        developerMessage: `post_logout_redirect_uri is not registered for this application, ${application.id}. Each character counts.`,
      };
}

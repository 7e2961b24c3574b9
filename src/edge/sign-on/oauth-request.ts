import {
  type ClientAuthentication,
  ClientAuthenticationMethod,
} from '../../../generated/proto/integration/sign_on/v1/tokens.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { hashSecret } from '../../identifiers/random-secrets.js';
import type { ParsedBody } from '../contract/request-body.js';
import type { ReceivedRequest } from '../contract/typed-handler.js';
import { parseAuthorization } from '../http/parsers.js';
import type { SignOnDependencies } from './sign-on-handler.js';

/** Parameters that must not be in an address, which ends up in logs. */
const SECRETS = ['client_secret', 'code', 'code_verifier', 'refresh_token', 'access_token', 'token'];

export function invalidRequest(message: string): ServiceError {
  return new ServiceError(ErrorCode.INVALID_REQUEST, message);
}

/** Secrets belong in the body or a header. */
export function refuseSecretsInQuery({ rawQuery }: ReceivedRequest): void {
  const query = new URLSearchParams(rawQuery);
  const found = SECRETS.find((name) => query.has(name));
  if (found !== undefined) {
    throw invalidRequest(`The field ${found} does not belong in the address, where logs keep it.`);
  }
}

/** The fields of an OAuth request, from a form or from JSON. */
export class OAuthFields {
  readonly #values: ReadonlyMap<string, readonly unknown[]>;

  constructor(body: ParsedBody) {
    if (body.kind === 'none' || body.kind === 'malformed') {
      throw invalidRequest(body.kind === 'none' ? 'The body is missing.' : body.message);
    }
    this.#values =
      body.kind === 'form' ? body.fields : new Map([...body.members].map(([name, value]) => [name, [value]]));
  }

  /** A field without a value counts as absent (RFC 6749, section 3.2), and so does null in JSON. */
  optional(name: string): string | undefined {
    const [given, ...more] = this.#values.get(name) ?? [];
    const value = given ?? undefined;
    if (more.length > 0) {
      throw invalidRequest(`The field ${name} came more than once.`);
    }
    if (value !== undefined && typeof value !== 'string') {
      throw invalidRequest(`The field ${name} must be a string.`);
    }
    if (value?.includes('\0')) {
      throw invalidRequest(`The field ${name} has a NUL in it.`);
    }
    return value === '' ? undefined : value;
  }

  required(name: string): string {
    const value = this.optional(name);
    if (value === undefined) {
      throw invalidRequest(`The field ${name} is missing.`);
    }
    return value;
  }
}

const SECRET_START = /^cs_(live|demo)_/;
const APPLICATION_ID = /^app_[0-9A-Za-z]{22}$/;

type Presented = Pick<ClientAuthentication, 'method' | 'clientId'> & { secret?: string };

/** The fields of a request and, sent in exactly one way, the credentials of its application. */
export function fromApplication(
  request: ReceivedRequest,
  { environment }: SignOnDependencies,
): { fields: OAuthFields; client: ClientAuthentication } {
  refuseSecretsInQuery(request);
  const fields = new OAuthFields(request.body);
  const { method, clientId, secret } = presentedBasic(request, fields) ?? presentedInBody(fields);
  if (secret !== undefined) {
    refuseOtherEnvironment(secret, environment);
  }
  if (APPLICATION_ID.test(clientId)) {
    request.facts.applicationId = clientId;
  }
  const clientSecretHash = secret === undefined ? undefined : hashSecret(secret);
  // The domain verifies them.
  const client = { method, clientId, clientSecretHash, remoteAddress: request.clientAddress };
  return { fields, client };
}

function presentedBasic(request: ReceivedRequest, fields: OAuthFields): Presented | undefined {
  const header = request.headers.authorization;
  if (header === undefined) {
    return undefined;
  }
  const authorization = parseAuthorization(header);
  if (authorization.scheme !== 'basic') {
    throw new ServiceError(
      ErrorCode.INVALID_CLIENT,
      'The Authorization header is not HTTP Basic with a form-encoded client_id and client_secret.',
    );
  }
  if (fields.optional('client_secret') !== undefined) {
    throw invalidRequest('Send the secret once: in the body, or by HTTP Basic.');
  }
  const named = fields.optional('client_id');
  if (named !== undefined && named !== authorization.username) {
    throw invalidRequest('The client_id in the body is another than that of the Authorization header.');
  }
  const { username: clientId, password: secret } = authorization;
  if (clientId === '') {
    throw new ServiceError(ErrorCode.INVALID_CLIENT, 'The client_id is missing in the Authorization header.');
  }
  // Libraries of public applications send an empty password, which is none.
  return secret === ''
    ? { method: ClientAuthenticationMethod.NONE, clientId }
    : { method: ClientAuthenticationMethod.BASIC, clientId, secret };
}

function presentedInBody(fields: OAuthFields): Presented {
  const clientId = fields.required('client_id');
  const secret = fields.optional('client_secret');
  return secret === undefined
    ? { method: ClientAuthenticationMethod.NONE, clientId }
    : { method: ClientAuthenticationMethod.BODY, clientId, secret };
}

/** The domain sees hashes only, so only the edge can see the environment of a secret. */
function refuseOtherEnvironment(secret: string, environment: 'live' | 'demo'): void {
  const theirs = SECRET_START.exec(secret)?.[1];
  if (theirs !== undefined && theirs !== environment) {
    throw new ServiceError(
      ErrorCode.INVALID_CLIENT,
      `This secret belongs to the ${theirs} environment, and this is the ${environment} environment.`,
    );
  }
}

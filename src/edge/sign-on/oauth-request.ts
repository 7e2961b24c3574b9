import {
  type ClientAuthentication,
  ClientAuthenticationMethod,
  type VerifiedAccessToken,
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
function refuseSecretsInQuery({ rawQuery }: ReceivedRequest): void {
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

/** The format of our refresh tokens; the domain checks the HMAC. */
const REFRESH_TOKEN = /^[A-Za-z0-9_-]{16,1024}$/;
const JWT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+$/;

/** The application that introspects or revokes a token, and the token; undefined if not ours or expired. */
export async function presentedToken(request: ReceivedRequest, dependencies: SignOnDependencies) {
  const { fields, client } = fromApplication(request, dependencies);
  const presented = fields.required('token');
  // The hint may be wrong, so the format alone decides.
  fields.optional('token_type_hint');
  return { client, presented, token: await tokenOf(presented, dependencies) };
}

async function tokenOf(text: string, { accessTokens }: SignOnDependencies) {
  if (JWT.test(text)) {
    const value = await accessTokens.verify(text);
    return value && { $case: 'accessToken' as const, value };
  }
  return REFRESH_TOKEN.test(text) ? { $case: 'refreshToken' as const, value: text } : undefined;
}

/** Whether a token has the form of our ID tokens; unverified, which suffices to explain a refusal. */
export function looksLikeIdToken(token: string, issuer: string): boolean {
  const [, header, payload] = JWT.exec(token) ?? [];
  if (header === undefined || payload === undefined) {
    return false;
  }
  try {
    return partOf(header).typ === 'JWT' && partOf(payload).iss === issuer;
  } catch {
    return false;
  }
}

function partOf(encoded: string): { typ?: unknown; iss?: unknown } {
  return JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'));
}

/** No credentials were sent, so the challenge names no error (RFC 6750, section 3.1). */
export class NoAccessToken extends ServiceError {
  constructor() {
    super(ErrorCode.INVALID_TOKEN, 'Send the access token in the Authorization header.');
    this.name = 'NoAccessToken';
  }
}

/** The access token of the header or, where allowed, of the form; refuses both at once. */
export async function verifiedBearer(
  request: ReceivedRequest,
  { accessTokens }: Pick<SignOnDependencies, 'accessTokens'>,
): Promise<VerifiedAccessToken> {
  refuseSecretsInQuery(request);
  const inHeader = bearerInHeader(request);
  const inForm =
    request.body.kind === 'none' ? undefined : new OAuthFields(request.body).optional('access_token');
  if (inHeader !== undefined && inForm !== undefined) {
    throw invalidRequest('Send the access token in one place.');
  }
  const token = inHeader ?? inForm;
  if (token === undefined) {
    throw new NoAccessToken();
  }
  const verified = await accessTokens.verify(token);
  if (!verified) {
    throw new ServiceError(ErrorCode.INVALID_TOKEN, 'The access token is invalid or expired.');
  }
  Object.assign(request.facts, { applicationId: verified.clientId, accountId: verified.accountId });
  return verified;
}

function bearerInHeader(request: ReceivedRequest): string | undefined {
  const header = request.headers.authorization;
  const authorization = header === undefined ? undefined : parseAuthorization(header);
  if (authorization?.scheme === 'malformed' && authorization.wanted === 'bearer') {
    throw invalidRequest('The Authorization header does not hold one access token.');
  }
  return authorization?.scheme === 'bearer' ? authorization.token : undefined;
}

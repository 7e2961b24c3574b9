import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { ParsedBody } from '../contract/request-body.js';
import type { ReceivedRequest } from '../contract/typed-handler.js';

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

  /** A field without a value counts as absent (RFC 6749, section 3.2). */
  optional(name: string): string | undefined {
    const [value, ...more] = this.#values.get(name) ?? [];
    if (more.length > 0) {
      throw invalidRequest(`The field ${name} came more than once.`);
    }
    if (value !== undefined && typeof value !== 'string') {
      throw invalidRequest(`The field ${name} must be a text.`);
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

/** The effective part of `claims`; the scopes decide about all other claims. */
interface ClaimsRequest {
  /** The expected account. */
  subject: string | null;
  /** Requires an authentication context class that no sign-in has. */
  impossibleContextClass: boolean;
}

interface ClaimRequest {
  essential?: unknown;
  value?: unknown;
  values?: unknown;
}

const MAX_DEPTH = 8;

/** Parses the JSON of OpenID Connect Core, 5.5; undefined if malformed. Ignores unknown members. */
export function parseClaims(text: string): ClaimsRequest | undefined {
  const parsed = parseJson(text);
  if (!isObject(parsed) || !isShallow(parsed, MAX_DEPTH)) {
    return undefined;
  }
  const idToken = memberOf(parsed, 'id_token');
  const userinfo = memberOf(parsed, 'userinfo');
  if (!isClaimsMember(idToken) || !isClaimsMember(userinfo)) {
    return undefined;
  }
  const subjects = subjectsOf([idToken, userinfo]);
  if (!subjects || subjects.length > 1) {
    return undefined;
  }
  return {
    subject: subjects[0] ?? null,
    impossibleContextClass: isImpossible((memberOf(idToken, 'acr') ?? {}) as ClaimRequest),
  };
}

/** Without values, any class will do (OpenID Connect Core, 5.5.1.1). */
function isImpossible(claim: ClaimRequest): boolean {
  const wanted = wantedBy(claim);
  return claim.essential === true && wanted.length > 0 && !wanted.includes(CONTEXT_CLASS);
}

function wantedBy({ value, values = [] }: ClaimRequest): unknown[] {
  return [...(value === undefined ? [] : [value]), ...(values as unknown[])];
}

/** The parsed claims, changed to expect this person. */
export function withSubject(text: string | undefined, subject: string): string {
  const claims = JSON.parse(text ?? '{}');
  return JSON.stringify({ ...claims, id_token: { ...claims.id_token, sub: { value: subject } } });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Own members only: `__proto__` is an unknown claim. */
function memberOf(object: unknown, name: string): unknown {
  return isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A claim is null, or an object with `essential`, `value` or `values`. */
function isClaimsMember(member: unknown): boolean {
  return member === undefined || (isObject(member) && Object.values(member).every(isClaimRequest));
}

function isClaimRequest(request: unknown): boolean {
  if (request === null) {
    return true;
  }
  if (!isObject(request)) {
    return false;
  }
  const essential = memberOf(request, 'essential');
  const values = memberOf(request, 'values');
  return (
    (essential === undefined || typeof essential === 'boolean') &&
    (values === undefined || (Array.isArray(values) && values.length > 0))
  );
}

/** All distinct expected accounts; undefined if a value cannot be one. */
function subjectsOf(members: readonly unknown[]): string[] | undefined {
  const asked = members.flatMap((member) => wantedBy((memberOf(member, 'sub') ?? {}) as ClaimRequest));
  const isName = (subject: unknown) => typeof subject === 'string' && subject !== '';
  return asked.every(isName) ? [...new Set(asked as string[])] : undefined;
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) {
    return true;
  }
  return depth > 0 && Object.values(value).every((member) => isShallow(member, depth - 1));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The `acr` of every sign-in: a password, sent over TLS (OASIS SAML 2.0 Authentication Context, 3.4.4). */
export const CONTEXT_CLASS = 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport';

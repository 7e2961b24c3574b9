/** What of the `claims` parameter has an effect: everything else the scopes show anyway, or they do not allow it. */
export interface ClaimsRequest {
  /** The ID token is to say when the person gave their password. */
  authTime: boolean;
  /** Whom the application expects. */
  subject: string | null;
  /** It will not do without an authentication context class, and this server makes no statement about these. */
  essentialContextClass: boolean;
}

interface ClaimRequest {
  essential?: unknown;
  value?: unknown;
  values?: unknown;
}

const MAX_DEPTH = 8;

/** Reads the JSON of OpenID Connect Core, section 5.5; undefined if it is malformed. Members and claims it does not know are passed over. */
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
  const contextClass = memberOf(idToken, 'acr') as ClaimRequest | null | undefined;
  return {
    authTime: memberOf(idToken, 'auth_time') !== undefined,
    subject: subjects[0] ?? null,
    essentialContextClass: contextClass?.essential === true,
  };
}

/** Claims that were read already, which from now on ask for this person. */
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

/** Own members only: `__proto__` and its like are claims that nobody knows. */
function memberOf(object: unknown, name: string): unknown {
  return isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Each claim is asked for with null, or with how much it matters and which values are wanted. */
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

/** Everybody that a `sub` asks for, each once; undefined if one of them can be nobody. */
function subjectsOf(members: readonly unknown[]): string[] | undefined {
  const asked = members.flatMap((member) => {
    const { value, values = [] } = (memberOf(member, 'sub') ?? {}) as ClaimRequest;
    return [...(value === undefined ? [] : [value]), ...(values as unknown[])];
  });
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

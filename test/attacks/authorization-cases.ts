const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

export type ApplicationName = 'portal' | 'mobile' | 'shiftwise';

/** Values of client_id in the address: the client is unproven, so nothing is redirected. */
export const CLIENT_ID_CASES: readonly [title: string, write: (clientId: string) => string][] = [
  ['is missing', () => ''],
  ['is empty', () => 'client_id='],
  ['is not registered', () => 'client_id=app_AAAAAAAAAAAAAAAAAAAAAA'],
  ['comes twice', (id) => `client_id=${id}&client_id=${id}`],
  ['comes as the only one of a list', (id) => `client_id[]=${id}`],
  ['has a space behind it', (id) => `client_id=${id}+`],
  ['has a NUL behind it', (id) => `client_id=${id}%00`],
  ['is in upper case', (id) => `client_id=${id.toUpperCase()}`],
  ['is a member of every object', () => 'client_id=__proto__'],
  ['is the constructor of every object', () => 'client_id=constructor'],
  ['is a piece of SQL', () => "client_id=app_'%20OR%20'1'='1"],
  ['is a pattern of SQL', () => 'client_id=app_%25'],
  ['is a piece of HTML', () => 'client_id=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E'],
  ['is longer than any', () => `client_id=app_${'A'.repeat(5_000)}`],
  ['is no UTF-8', (id) => `client_id=${id}%c3%28`],
  ['is an address to read about it', () => 'client_id=https%3A%2F%2Fevil.example%2Fclient.json'],
];

interface AuthorizationCase {
  title: string;
  application?: ApplicationName;
  changes: Readonly<Record<string, string | undefined>>;
  error: string;
}

const invalidRequest = (
  title: string,
  changes: AuthorizationCase['changes'],
  application?: ApplicationName,
): AuthorizationCase => ({ title, changes, error: 'invalid_request', ...(application && { application }) });

const WITHOUT_PKCE = { code_challenge: undefined, code_challenge_method: undefined };

/** What is wrong once the application and its address are proven. */
export const AUTHORIZATION_CASES: readonly AuthorizationCase[] = [
  ...['token', 'id_token', 'code token', 'code id_token', 'id_token token', 'none', 'CODE', 'code code'].map(
    (type) => ({
      title: `a response of the type ${type}, which would put tokens into addresses or mean nothing`,
      changes: { response_type: type },
      error: 'unsupported_response_type',
    }),
  ),
  invalidRequest('no response type', { response_type: undefined }),
  ...['fragment', 'web_message', 'query.jwt', 'QUERY'].map((mode) =>
    invalidRequest(`an answer by ${mode}`, { response_mode: mode }),
  ),
  invalidRequest('a public application without PKCE', WITHOUT_PKCE, 'mobile'),
  invalidRequest('an application that must use PKCE without it', WITHOUT_PKCE, 'shiftwise'),
  invalidRequest('an empty challenge of a public application', { code_challenge: '' }, 'mobile'),
  invalidRequest('a plain challenge', { code_challenge_method: 'plain' }, 'mobile'),
  invalidRequest('a plain challenge where PKCE is free', { code_challenge_method: 'plain' }),
  invalidRequest('a challenge without a method, which would mean plain', {
    code_challenge_method: undefined,
  }),
  invalidRequest('a method without a challenge', { code_challenge: undefined }),
  invalidRequest('a method in lower case', { code_challenge_method: 's256' }),
  invalidRequest('an unknown method', { code_challenge_method: 'S512' }),
  invalidRequest('a challenge that is a letter short', { code_challenge: CHALLENGE.slice(1) }),
  invalidRequest('a challenge that is a letter long', { code_challenge: `${CHALLENGE}A` }),
  invalidRequest('a challenge with padding', { code_challenge: `${CHALLENGE}=` }),
  invalidRequest('a challenge in plain base64', { code_challenge: CHALLENGE.replaceAll('-', '+') }),
  { title: 'no scope', changes: { scope: undefined }, error: 'invalid_scope' },
  ...[
    'openid admin',
    'offline_access',
    'OPENID',
    'openid  email',
    'openid\temail',
    ' openid',
    'openid,email',
    '__proto__',
    'openid constructor',
  ].map((scope) => ({
    title: `the scope ${JSON.stringify(scope)}`,
    changes: { scope },
    error: 'invalid_scope',
  })),
  invalidRequest('a scope longer than any', { scope: 'openid '.repeat(200) }),
  {
    title: 'a request object, unsigned, that says otherwise',
    changes: { request: 'eyJhbGciOiJub25lIn0.eyJyZWRpcmVjdF91cmkiOiJodHRwczovL2V2aWwuZXhhbXBsZSJ9.' },
    error: 'request_not_supported',
  },
  ...[
    'http://169.254.169.254/latest/meta-data',
    'file:///etc/passwd',
    'urn:ietf:params:oauth:request_uri:x',
  ].map((uri) => ({
    title: `a request to be read from ${uri}`,
    changes: { request_uri: uri },
    error: 'request_uri_not_supported',
  })),
  invalidRequest('a silence that is broken in the same breath', { prompt: 'none login' }),
  invalidRequest('an unknown prompt', { prompt: 'create' }),
  ...['-1', '1.5', '1e3', '0x10', ' 1', '1'.repeat(60), 'NaN'].map((maxAge) =>
    invalidRequest(`the max_age ${JSON.stringify(maxAge)}`, { max_age: maxAge }),
  ),
  ...['{', '[]', 'null', '{"id_token":[]}', '{"id_token":{"sub":{"value":1}}}'].map((claims) =>
    invalidRequest(`the claims ${claims}`, { claims }),
  ),
  invalidRequest('claims nested deeper than any', {
    claims: `{"id_token":${'['.repeat(1_000)}${']'.repeat(1_000)}}`,
  }),
  ...[
    ['that is no token', 'someone'],
    ['without a signature', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhY2NfRVVnWTNIelhNZDhLYTR5SU00ZzVVRiJ9.'],
  ].map(([what, hint]) => ({
    title: `a silent answer to a hint ${what}`,
    changes: { id_token_hint: hint, prompt: 'none' },
    error: 'login_required',
  })),
  ...['nonce', 'login_hint', 'display', 'ui_locales', 'acr_values'].map((name) =>
    invalidRequest(`a NUL in ${name}`, { [name]: 'a\0b' }),
  ),
  ...['nonce', 'login_hint', 'display', 'ui_locales', 'claims', 'id_token_hint'].map((name) =>
    invalidRequest(`a ${name} longer than any`, { [name]: 'x'.repeat(8_500) }),
  ),
];

/** Each comes a second time, with another value. */
export const REPEATED: readonly string[] = [
  'response_type',
  'scope',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'response_mode',
  'prompt',
  'max_age',
  'login_hint',
  'id_token_hint',
  'claims',
  'display',
  'ui_locales',
];

/** Values that careless code would interpret. */
export const REFLECTED_STATES: readonly [title: string, state: string][] = [
  ['starts a new header', 'x\r\nSet-Cookie: stolen=1\r\n\r\n<script>alert(1)</script>'],
  ['starts a new header in other line breaks', 'x\u0085\u2028Location: https://evil.example'],
  ['adds a code', 'x&code=injected&iss=https://evil.example'],
  ['adds a fragment', 'x#access_token=injected'],
  ['adds a query', '?code=injected'],
  ['is a piece of HTML', '"><script>alert(1)</script>'],
  ['is half an escape', '%'],
  ['is an escape', '%26code%3Dinjected'],
  ['is an address', '//evil.example/@\\'],
  ['is a member of every object', '__proto__'],
  ['is in many scripts', 'zażółć 状態 🔑'],
  ['is as long as may be', '<'.repeat(1_000)],
];

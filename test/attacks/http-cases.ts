/** Headers in which a proxy, or an attacker, names the original target. */
export const MISLEADING_HEADERS: readonly [title: string, headers: Readonly<Record<string, string>>][] = [
  ['another Host', { host: 'evil.example' }],
  ['another Host with a port', { host: 'evil.example:443' }],
  ['a Host with our name before it', { host: 'localhost@evil.example' }],
  ['a Host with our name as its start', { host: 'localhost.evil.example' }],
  ['a Host with a path', { host: 'evil.example/auth' }],
  ['a Host of HTML', { host: '"><script>alert(1)</script>' }],
  ['X-Forwarded-Host', { 'x-forwarded-host': 'evil.example' }],
  ['X-Forwarded-Host in a list', { 'x-forwarded-host': 'evil.example, localhost' }],
  ['X-Forwarded-Proto', { 'x-forwarded-proto': 'https' }],
  ['X-Forwarded-Port', { 'x-forwarded-port': '443' }],
  ['X-Forwarded-Prefix', { 'x-forwarded-prefix': '//evil.example' }],
  ['X-Forwarded-Server', { 'x-forwarded-server': 'evil.example' }],
  ['X-Host', { 'x-host': 'evil.example' }],
  ['Forwarded', { forwarded: 'host=evil.example;proto=https;for=1.2.3.4' }],
  ['X-Original-URL', { 'x-original-url': '/.well-known/jwks.json' }],
  ['X-Rewrite-URL', { 'x-rewrite-url': '/.well-known/jwks.json' }],
  ['X-Original-Host', { 'x-original-host': 'evil.example' }],
  ['Base-Url', { 'base-url': 'https://evil.example' }],
];

/** Paths that lead to an endpoint in the eyes of something in front of the server, or behind it. */
export const ALMOST_PATHS: readonly string[] = [
  '/auth/authorize/',
  '/auth//authorize',
  '//auth/authorize',
  '/auth/./authorize',
  '/auth/x/../authorize',
  '/AUTH/AUTHORIZE',
  '/auth%2fauthorize',
  '/auth/authorize%00',
  '/auth/authorize%20',
  '/auth/authorize;x=1',
  '/auth/authorize.json',
  '/auth\\authorize',
  '//evil.example/auth/authorize',
  '/\\evil.example',
  '/%2f%2fevil.example',
  '/.well-known/openid-configuration/',
  '/.well-known/..%2f..%2fetc%2fpasswd',
  '/../../../../etc/passwd',
  '/__proto__',
  '/constructor',
  '/%ff',
  '/%',
];

const CRLF = '\r\n';
const request = (...lines: string[]) => [...lines, '', ''].join(CRLF);

/** Bytes that two readers of HTTP could take apart in two ways, or that are no HTTP at all. */
export const BROKEN_REQUESTS: readonly [title: string, bytes: string][] = [
  [
    'two lengths that differ',
    `${request('POST /auth/token HTTP/1.1', 'Host: x', 'Content-Length: 4', 'Content-Length: 40')}a=bc`,
  ],
  [
    'a length and chunks',
    `${request('POST /auth/token HTTP/1.1', 'Host: x', 'Content-Length: 4', 'Transfer-Encoding: chunked')}0${CRLF}${CRLF}`,
  ],
  [
    'chunks in HTTP/1.0, and a request that only this server sees',
    `${request('POST /auth/token HTTP/1.0', 'Host: x', 'Connection: keep-alive', 'Transfer-Encoding: chunked')}0${CRLF}${CRLF}${request('GET /.well-known/jwks.json HTTP/1.1', 'Host: x')}`,
  ],
  [
    'an unknown transfer encoding',
    `${request('POST /auth/token HTTP/1.1', 'Host: x', 'Transfer-Encoding: xchunked')}0${CRLF}${CRLF}`,
  ],
  ['a length that is no number', request('POST /auth/token HTTP/1.1', 'Host: x', 'Content-Length: +4')],
  ['a length below zero', request('POST /auth/token HTTP/1.1', 'Host: x', 'Content-Length: -1')],
  [
    'a chunk with an invalid length',
    `${request('POST /auth/token HTTP/1.1', 'Host: x', 'Connection: close', 'Transfer-Encoding: chunked')}zz${CRLF}`,
  ],
  ['a space before the colon', request('GET /auth/authorize HTTP/1.1', 'Host : x')],
  [
    'a header that goes on in the next line',
    request('GET /auth/authorize HTTP/1.1', 'Host: x', 'X-A: 1', ' Host: y'),
  ],
  ['a NUL in a header', request('GET /auth/authorize HTTP/1.1', 'Host: x', 'X-A: a\0b')],
  ['no Host', request('GET /auth/authorize HTTP/1.1')],
  ['an unknown method', request('STEAL /auth/token HTTP/1.1', 'Host: x')],
  ['an unknown version', request('GET /auth/authorize HTTP/9.9', 'Host: x')],
  ['a space in the address', request('GET /auth/authorize ?x HTTP/1.1', 'Host: x')],
  [
    'a header of twenty thousand bytes',
    request('GET /auth/authorize HTTP/1.1', 'Host: x', `X-A: ${'a'.repeat(20_000)}`),
  ],
  [
    'an address of twenty thousand bytes',
    request(`GET /auth/authorize?${'a'.repeat(20_000)} HTTP/1.1`, 'Host: x'),
  ],
  [
    'a cookie of twenty thousand bytes',
    request('GET /auth/sign-in HTTP/1.1', 'Host: x', `Cookie: ${'a'.repeat(20_000)}`),
  ],
  ['a line of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
];

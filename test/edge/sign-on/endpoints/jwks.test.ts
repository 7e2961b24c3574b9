import { describePublished } from './published-suite.js';

const rsa = { kty: 'RSA', kid: 'r', use: 'sig', alg: 'RS256', n: 'abc', e: 'AQAB' };
const ec = { kty: 'EC', kid: 'e', use: 'sig', alg: 'ES256', crv: 'P-256', x: 'abc', y: 'def' };
const keys = [rsa, ec].map((jwk) => ({ kid: jwk.kid, algorithm: jwk.alg, jwkJson: JSON.stringify(jwk) }));

// The statuses 200, 304, 405, 429, 500 and 503 have their tests in the suite.
describePublished({
  operationId: 'jwks',
  path: '/.well-known/jwks.json',
  method: 'getKeySet',
  present: { getKeySet: async () => ({ keys, maxAgeSeconds: 300 }) },
  changed: { getKeySet: async () => ({ keys: keys.slice(1), maxAgeSeconds: 300 }) },
  body: { keys: [rsa, ec] },
});

import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { exportJWK, type JWK } from 'jose';

export type Header = Record<string, unknown>;
export type Claims = Record<string, unknown>;

export interface TakenToken {
  text: string;
  header: Header;
  claims: Claims;
  signature: string;
}

/** What an attacker has: a token in force, the published keys and keys of their own. */
export interface Forge {
  access: TakenToken;
  id: TakenToken;
  /** Of an application with ID tokens of the same algorithm as access tokens. */
  idSignedAlike: TakenToken;
  /** What is published: the key that signs access tokens, and one that signs ID tokens with RSA. */
  ecKey: JWK;
  rsaKey: JWK;
  ownKey: KeyObject;
  ownPublicKey: JWK;
}

export function takenToken(text: string): TakenToken {
  const [header = '', claims = '', signature = ''] = text.split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  return { text, header: read(header), claims: read(claims), signature };
}

export async function newForge(
  tokens: { access: string; id: string; idSignedAlike: string },
  keys: readonly JWK[],
): Promise<Forge> {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const published = (kty: string) => keys.find((key) => key.kty === kty) as JWK;
  return {
    access: takenToken(tokens.access),
    id: takenToken(tokens.id),
    idSignedAlike: takenToken(tokens.idSignedAlike),
    ecKey: published('EC'),
    rsaKey: published('RSA'),
    ownKey: own.privateKey,
    ownPublicKey: await exportJWK(own.publicKey),
  };
}

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** With any signature, or none. */
export function written(header: Header, claims: Claims, signatureOf: (input: string) => string): string {
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${signatureOf(input)}`;
}

function signedWith(key: KeyObject, header: Header, claims: Claims): string {
  return written(header, claims, (input) =>
    sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url'),
  );
}

function hmacWith(secret: string, { access: { header, claims } }: Forge): string {
  return written({ ...header, alg: 'HS256' }, claims, (input) =>
    createHmac('sha256', secret).update(input).digest('base64url'),
  );
}

const withHeader = (changes: (forge: Forge) => Header) => (forge: Forge) => {
  const { header, claims } = forge.access;
  return signedWith(forge.ownKey, { ...header, ...changes(forge) }, claims);
};

const withClaims =
  (changes: Claims) =>
  ({ access: { header, claims, signature } }: Forge) =>
    written(header, { ...claims, ...changes }, () => signature);

const unsigned =
  (alg: unknown) =>
  ({ access: { header, claims } }: Forge) =>
    written({ ...header, alg }, claims, () => '');

/** Of the last letter of a signature two bits of six count. */
function otherSpelling(letter: string): string {
  return ({ A: 'B', Q: 'R', g: 'h', w: 'x' } as Record<string, string>)[letter] ?? 'A';
}

/** Texts that are no access token of this server. */
export const FORGED_TOKENS: readonly [title: string, forged: (forge: Forge) => string][] = [
  ['without a signature, under the algorithm none', unsigned('none')],
  ['without a signature, under the algorithm None', unsigned('None')],
  ['without a signature, under the algorithm nOnE', unsigned('nOnE')],
  ['without a signature, under its own algorithm', unsigned('ES256')],
  ['without a signature, under no algorithm', unsigned(undefined)],
  [
    'under the algorithm none with the true signature',
    ({ access: { header, claims, signature } }) =>
      written({ ...header, alg: 'none' }, claims, () => signature),
  ],
  [
    'signed by HMAC with the published key as its secret',
    (forge) => hmacWith(JSON.stringify(forge.ecKey), forge),
  ],
  ['signed by HMAC with the x of the published key', (forge) => hmacWith(String(forge.ecKey.x), forge)],
  ['signed by HMAC with an empty secret', (forge) => hmacWith('', forge)],
  ['signed by a foreign key with the name of ours', withHeader(() => ({}))],
  ['signed by a key that it brings along', withHeader(({ ownPublicKey }) => ({ jwk: ownPublicKey }))],
  [
    'signed by a key that it brings along, without the name of ours',
    withHeader(({ ownPublicKey }) => ({ jwk: ownPublicKey, kid: undefined })),
  ],
  [
    'signed by a key that is to be fetched',
    withHeader(() => ({ jku: 'https://evil.example/jwks.json', kid: 'theirs' })),
  ],
  [
    'signed by a certificate that is to be fetched',
    withHeader(() => ({ x5u: 'https://evil.example/cert.pem' })),
  ],
  ['signed by a certificate that it brings along', withHeader(() => ({ x5c: ['MIIB'] }))],
  ['with an unknown critical header', withHeader(() => ({ crit: ['x'], x: 1 }))],
  ['with a path for the name of its key', withHeader(() => ({ kid: '../../../../dev/null' }))],
  ['with a piece of SQL for the name of its key', withHeader(() => ({ kid: "x' UNION SELECT 'key" }))],
  ['with a member of every object for the name of its key', withHeader(() => ({ kid: '__proto__' }))],
  ['with a list for the name of its key', withHeader(({ access }) => ({ kid: [access.header.kid] }))],
  ['under the name of the RSA key', withHeader(({ rsaKey }) => ({ kid: rsaKey.kid }))],
  ['under the algorithm of the RSA key', withHeader(({ rsaKey }) => ({ kid: rsaKey.kid, alg: 'RS256' }))],
  ['under another elliptic curve', withHeader(() => ({ alg: 'ES384' }))],
  [
    'with a signature of zeros',
    ({ access: { header, claims } }) => written(header, claims, () => Buffer.alloc(64).toString('base64url')),
  ],
  ['with half its signature', ({ access: { text } }) => text.slice(0, -43)],
  ['with a letter behind its signature', ({ access: { text } }) => `${text}A`],
  ['with padding behind its signature', ({ access: { text } }) => `${text}==`],
  [
    'with another last letter of the same meaning',
    ({ access: { text } }) => `${text.slice(0, -1)}${otherSpelling(text.slice(-1))}`,
  ],
  [
    'with its signature in lower case',
    ({ access: { header, claims, signature } }) => written(header, claims, () => signature.toLowerCase()),
  ],
  ['with a fourth part', ({ access: { text } }) => `${text}.e30`],
  ['of another person', withClaims({ sub: 'acc_AAAAAAAAAAAAAAAAAAAAAA' })],
  ['of another application', withClaims({ client_id: 'app_AAAAAAAAAAAAAAAAAAAAAA' })],
  ['of another issuer', withClaims({ iss: 'https://evil.example' })],
  ['for another audience', withClaims({ aud: 'https://evil.example' })],
  ['with a scope more', withClaims({ scope: 'openid profile email admin' })],
  ['with a longer life', withClaims({ exp: 4_102_444_800 })],
  ['that is an ID token', ({ id }) => id.text],
  ['that is an ID token signed by the same key', ({ idSignedAlike }) => idSignedAlike.text],
  [
    'that is an ID token said to be an access token',
    ({ id: { header, claims, signature } }) => written({ ...header, typ: 'at+jwt' }, claims, () => signature),
  ],
  ['that is five parts long, as encrypted ones are', () => 'e30.e30.e30.e30.e30'],
  ['that is made of empty parts', () => '..'],
  ['that is longer than any', ({ access: { text } }) => text.replace('.', `.${'A'.repeat(8_000)}`)],
];

import { timingSafeEqual } from 'node:crypto';
import { ConfigError } from '../../../config/config.js';
import type { Secret } from '../../../config/secret.js';
import { ServiceTokenRefusal } from '../../../domain/access/service-tokens.js';
import { hashSecret } from '../../../identifiers/random-secrets.js';
import type { Authenticate } from '../../../rpc/callers.js';

/** Rights and token settings of edge and worker. The worker has two rights, so that sending cannot purge. */
export const roleTokenSettings = {
  edge: 'EDGE_TOKEN',
  relay: 'RELAY_TOKEN',
  maintenance: 'MAINTENANCE_TOKEN',
} as const;

export type RoleRight = keyof typeof roleTokenSettings;

/** The tokens by setting, each one or two. */
export type RoleTokens = { [Name in (typeof roleTokenSettings)[RoleRight]]?: readonly Secret[] | undefined };

/** Prefix of a setting that has only the hash of a token, to recognize it. */
const HASHED = 'sha256:';

export function hashedToken(token: string): string {
  return token.startsWith(HASHED) ? token : `${HASHED}${hashSecret(token).toString('base64url')}`;
}

/** Authenticates edge and worker by their tokens, which may change meanwhile. All refusals are alike. */
export function roleAuthenticator(tokens: RoleTokens): Authenticate {
  const hashes = new WeakMap<Secret, Buffer>();
  const hashedOnce = (token: Secret) => {
    const hash = hashes.get(token) ?? hashOf(token);
    hashes.set(token, hash);
    return hash;
  };
  const rights = Object.keys(roleTokenSettings) as RoleRight[];
  return (token) => {
    const hash = hashSecret(token);
    const found = rights.flatMap((caller) =>
      (tokens[roleTokenSettings[caller]] ?? [])
        .filter((each) => timingSafeEqual(hashedOnce(each), hash))
        .map(() => ({ caller })),
    );
    if (!found[0]) {
      throw new ServiceTokenRefusal('unknown');
    }
    return { caller: found[0].caller };
  };
}

/** The token that a role sends: the first of its setting. */
export function ownTokenOf(tokens: RoleTokens, right: RoleRight, role: string): string {
  const name = roleTokenSettings[right];
  const token = tokens[name]?.[0]?.reveal();
  if (token === undefined) {
    throw new ConfigError([
      `${name} must be set to run the ${role} by itself, and be the same for the domain`,
    ]);
  }
  if (token.startsWith(HASHED)) {
    throw new ConfigError([
      `${name} must be the token itself for the ${role}: only the domain takes its hash`,
    ]);
  }
  return token;
}

function hashOf(token: Secret): Buffer {
  return Buffer.from(hashedToken(token.reveal()).slice(HASHED.length), 'base64url');
}

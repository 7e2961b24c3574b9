import { timingSafeEqual } from 'node:crypto';
import { type Config, ConfigError, sharedTokens } from '../../config/config.js';
import { roleTokens } from '../../config/parsers.js';
import type { Secret } from '../../config/secret.js';
import { secretOf } from '../../config/secret-files.js';
import { ServiceTokenRefusal } from '../../domain/access/service-tokens.js';
import { hashSecret } from '../../identifiers/random-secrets.js';
import type { Authenticate } from '../../rpc/callers.js';
import { namesSeveralDomains } from '../sockets.js';
import type { RoleName, RoleOptions } from './role.js';

/**
 * The rights of edge and worker: the setting that holds the token of each, and the role that sends it. The
 * worker has two, so that sending cannot purge.
 */
export const roleRights = {
  edge: { setting: 'EDGE_TOKEN', sender: 'edge' },
  relay: { setting: 'RELAY_TOKEN', sender: 'worker' },
  maintenance: { setting: 'MAINTENANCE_TOKEN', sender: 'worker' },
} as const;

export type RoleRight = keyof typeof roleRights;

export const allRoleRights = Object.keys(roleRights) as RoleRight[];

/** One or two tokens per setting. */
export type RoleTokens = {
  [Name in (typeof roleRights)[RoleRight]['setting']]?: readonly Secret[] | undefined;
};

/** Prefix of a setting that has only the hash of a token, to recognize it. */
const HASHED = 'sha256:';

export function hashedToken(token: string): string {
  return token.startsWith(HASHED) ? token : `${HASHED}${hashSecret(token).toString('base64url')}`;
}

/**
 * Authenticates edge and worker by the present content of `tokens`, which `liveTokens` may replace. All
 * refusals are alike.
 */
export function roleAuthenticator(tokens: RoleTokens): Authenticate {
  const hashes = new WeakMap<Secret, Buffer>();
  const hashedOnce = (token: Secret) => {
    const hash = hashes.get(token) ?? hashOf(token);
    hashes.set(token, hash);
    return hash;
  };
  return (token) => {
    const hash = hashSecret(token);
    const caller = allRoleRights.find((right) =>
      tokens[roleRights[right].setting]?.some((each) => timingSafeEqual(hashedOnce(each), hash)),
    );
    if (caller === undefined) {
      throw new ServiceTokenRefusal('unknown');
    }
    return { caller };
  };
}

/** The token that a role sends: the first of its setting. */
export function ownTokenOf(tokens: RoleTokens, right: RoleRight): string {
  const { setting: name, sender: role } = roleRights[right];
  const token = tokens[name]?.[0]?.reveal();
  if (token === undefined) {
    throw new ConfigError([
      `${name} must be set to run the ${role} by itself; the domain needs the same token or its hash`,
    ]);
  }
  if (token.startsWith(HASHED)) {
    throw new ConfigError([
      `${name} must be the token itself for the ${role}: only the domain accepts a hash`,
    ]);
  }
  return token;
}

/** If a token is not set, `serve` makes one, which the domains of other machines do not know. */
export function refuseTokenOfServe(config: Config, right: RoleRight): void {
  const { setting: name } = roleRights[right];
  if (config[name] !== undefined) {
    ownTokenOf(config, right);
  } else if (namesSeveralDomains(config)) {
    throw new ConfigError([
      `${name} must be set, the same on all machines: DOMAIN_ADDRESS names several domains, and a token that \`integration serve\` makes is only for its own`,
    ]);
  }
}

function hashOf(token: Secret): Buffer {
  return Buffer.from(hashedToken(token.reveal()).slice(HASHED.length), 'base64url');
}

/** As often as certificate files. Polled, because a file replaced in a mount may raise no event. */
const LOOK_EVERY_MS = 2_000;

/**
 * The tokens of edge and worker, read again when their files change. While a file cannot be used, its last
 * valid content stays in use.
 */
export function liveTokens(
  { config, log, ending }: Pick<RoleOptions, 'config' | 'log' | 'ending'>,
  role: RoleName,
  onChange?: () => void,
  lookEveryMs = LOOK_EVERY_MS,
): RoleTokens {
  const { EDGE_TOKEN, RELAY_TOKEN, MAINTENANCE_TOKEN } = config;
  const tokens: RoleTokens = { EDGE_TOKEN, RELAY_TOKEN, MAINTENANCE_TOKEN };
  const sends = allRoleRights.filter((right) => roleRights[right].sender === role);
  // The domain sends no token. It checks those of all roles, so it reads all files.
  const names = (role === 'domain' ? allRoleRights : sends)
    .map((right) => roleRights[right].setting)
    .filter((name) => config[`${name}_FILE`] !== undefined);
  for (const right of role === 'domain' ? allRoleRights : []) {
    const { setting, sender } = roleRights[right];
    if (tokens[setting] === undefined) {
      log.warn('a token of a role is not set: its calls are refused', { setting, caller: sender });
    }
  }
  const refused = new Map<string, string>();
  const seen = new Map<string, string>();
  const look = (name: (typeof names)[number]) => {
    const file = `${name}_FILE` as const;
    try {
      const text = secretOf(config[file] as string);
      // Used only when two reads agree: a read may see a half-written file.
      const isSettled = seen.get(name) === text;
      seen.set(name, text);
      if (!isSettled) {
        return;
      }
      const found = roleTokens(text);
      assertUsable({ ...tokens, [name]: found }, sends);
      refused.delete(name);
      if (textOf(found) !== textOf(tokens[name])) {
        tokens[name] = found;
        log.info('a token file has changed; its tokens are in use', { setting: file });
        onChange?.();
      }
    } catch (error) {
      const reason = (error as Error).message;
      if (refused.get(name) !== reason) {
        log.warn('a token file cannot be used; the tokens read before stay in use', {
          setting: file,
          reason,
        });
      }
      refused.set(name, reason);
    }
  };
  if (names.length > 0) {
    const timer = setInterval(() => names.forEach(look), lookEveryMs).unref();
    ending.addEventListener('abort', () => clearInterval(timer));
  }
  return tokens;
}

/** The same checks as at the start. */
function assertUsable(tokens: RoleTokens, sends: readonly RoleRight[]): void {
  for (const right of sends) {
    ownTokenOf(tokens, right);
  }
  const [problem] = sharedTokens(tokens);
  if (problem !== undefined) {
    throw new Error(problem);
  }
}

function textOf(tokens: readonly Secret[] = []): string {
  return tokens.map((token) => token.reveal()).join();
}

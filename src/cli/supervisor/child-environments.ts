import { randomBytes } from 'node:crypto';
import type { Config } from '../../config/config.js';
import { secretSettings } from '../../config/settings.js';
import { type RoleName, SECRETS_OF } from '../roles/role.js';
import { allRoleRights, hashedToken, type RoleRight, roleRights } from '../roles/role-tokens.js';
import type { TemporalOfDemo } from './temporal-of-demo.js';

/**
 * The environment of each child, without the secrets that its role does not read, the names of their files,
 * and what the client of PostgreSQL reads, such as PGPASSWORD, unless the role opens the database. Each child
 * gets only the tokens that it sends; the domain gets the hash of each. Where a setting names a token file,
 * they get its path instead, the domain too. In a demo without TEMPORAL_ADDRESS, all get the address of the
 * Temporal server that this process starts.
 */
export function childEnvironments(
  config: Config,
  environment: NodeJS.ProcessEnv,
  temporal: TemporalOfDemo | undefined,
): (role: RoleName) => NodeJS.ProcessEnv {
  const tokens = new Map(allRoleRights.map((right) => [right, tokensOf(config, right)]));
  return (role) => {
    const own: readonly string[] = SECRETS_OF[role];
    const foreign = secretSettings.filter((name) => !own.includes(name));
    const dropped = new Set<string>(foreign.flatMap((name) => [name, `${name}_FILE`]));
    const held: NodeJS.ProcessEnv = {};
    for (const right of allRoleRights) {
      const { setting: name } = roleRights[right];
      dropped.add(name);
      // A child reads a token file itself, and again when the file changes.
      if (own.includes(name) && config[`${name}_FILE`] === undefined) {
        const given = tokens.get(right) ?? [];
        held[name] = (role === 'domain' ? given.map(hashedToken) : given).join(',');
      }
    }
    const kept = Object.entries(environment).filter(
      ([name]) => !dropped.has(name) && (own.includes('DATABASE_URL') || !name.startsWith('PG')),
    );
    return {
      ...Object.fromEntries(kept),
      // The key implies TLS. A role that does not get it would find the connection to Temporal unencrypted.
      ...(config.TEMPORAL_API_KEY && { TEMPORAL_TLS: 'on' }),
      ...held,
      ...(temporal && {
        TEMPORAL_ADDRESS: temporal.address,
        TEMPORAL_UI_URL: config.TEMPORAL_UI_URL ?? `http://localhost:${temporal.uiPort}`,
      }),
    };
  };
}

/** New at each start unless they are set, so that only children of this process know them. */
function tokensOf(config: Config, right: RoleRight): string[] {
  const given = config[roleRights[right].setting]?.map((token) => token.reveal());
  return given ?? [`${right}_${config.ENVIRONMENT}_${randomBytes(32).toString('hex')}`];
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { CertificateFiles } from '../../rpc/certificate-files.js';
import { RpcChannel } from '../../rpc/client.js';
import { clientCredentials } from '../../rpc/connect.js';
import type { Check, CheckResult } from '../../telemetry/health.js';
import type { RoleOptions } from './role.js';
import { ownTokenOf, type RoleRight, type RoleTokens } from './role-tokens.js';

/** Longer than the domain's own check, so that the domain itself reports a slow write. */
const PROBE_DEADLINE_MS = 2_400;
const PROBE_AGAIN_AFTER_MS = 50;
const DOMAIN_START_LIMIT_MS = 3_000;

/** A channel from edge or worker to one domain or several, with one right. */
export function openDomainChannel(
  { config, log }: Pick<RoleOptions, 'config' | 'log'>,
  tokens: RoleTokens,
  right: RoleRight,
  tlsFiles: CertificateFiles | undefined,
): RpcChannel {
  const token = () => ownTokenOf(tokens, right);
  // Refuses the settings now, not at the first call.
  token();
  return new RpcChannel(config.DOMAIN_ADDRESS, token, {
    credentials: (address) => clientCredentials(address, tlsFiles),
    onChange: ({ address, state, reason }) => {
      if (state === 'serving') {
        log.info('a domain serves', { address, right });
      } else {
        log.warn('a domain does not serve', { address, right, state, reason });
      }
    },
  });
}

/** Asks the domain over each channel that requests take. Of several domains, one has to serve. */
export function domainCheck(...channels: readonly RpcChannel[]): Check {
  return {
    name: 'domain',
    required: true,
    limitMs: PROBE_DEADLINE_MS,
    probe: async () => {
      const results = await Promise.all(channels.map(lookAt));
      return results.find(({ ok }) => !ok) ?? results.find(({ detail }) => detail) ?? { ok: true };
    },
  };
}

async function lookAt(channel: RpcChannel): Promise<CheckResult> {
  const reports = channel.reports();
  if (reports.every(({ state }) => state === 'unasked')) {
    const status = await channel.health(PROBE_DEADLINE_MS);
    return status === 'SERVING' ? { ok: true } : { ok: false, detail: `the domain says ${status}` };
  }
  const away = reports.filter(({ state }) => state !== 'serving');
  const detail = away.map(({ address, reason }) => `${address}: ${reason ?? 'not asked yet'}`).join('; ');
  return { ok: away.length < reports.length, ...(away.length > 0 && { detail }) };
}

/** Waits until the domain serves, up to a limit: all roles start together, and an early call would fail. */
export async function untilDomainServes(...channels: readonly RpcChannel[]): Promise<void> {
  const endsAt = performance.now() + DOMAIN_START_LIMIT_MS;
  const { probe } = domainCheck(...channels);
  while (performance.now() < endsAt) {
    const { ok } = await Promise.resolve(probe()).catch(() => ({ ok: false }));
    if (ok) {
      return;
    }
    await sleep(PROBE_AGAIN_AFTER_MS);
  }
}

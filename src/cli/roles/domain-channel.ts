import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config/config.js';
import type { CertificateFiles } from '../../rpc/certificate-files.js';
import { RpcChannel } from '../../rpc/client.js';
import { clientCredentials } from '../../rpc/connect.js';
import type { Check } from '../../telemetry/health.js';
import { ownTokenOf, type RoleRight, type RoleTokens } from './tokens/role-tokens.js';

/** Longer than the domain's own check, so that the domain itself reports a slow write. */
const PROBE_DEADLINE_MS = 2_400;
const PROBE_AGAIN_AFTER_MS = 50;

/** A channel from edge or worker to the domain, with one right. */
export function openDomainChannel(
  config: Config,
  tokens: RoleTokens,
  right: RoleRight,
  role: string,
  tlsFiles: CertificateFiles | undefined,
): RpcChannel {
  const token = () => ownTokenOf(tokens, right, role);
  // Refuses the settings now, not at the first call.
  token();
  return new RpcChannel(config.DOMAIN_ADDRESS, token, clientCredentials(config.DOMAIN_ADDRESS, tlsFiles));
}

/** Asks the domain over each channel that requests take. */
export function domainCheck(...channels: readonly RpcChannel[]): Check {
  return {
    name: 'domain',
    required: true,
    limitMs: PROBE_DEADLINE_MS,
    probe: async () => {
      const statuses = await Promise.all(channels.map((channel) => channel.health(PROBE_DEADLINE_MS)));
      const status = statuses.find((one) => one !== 'SERVING');
      return status === undefined ? { ok: true } : { ok: false, detail: `the domain says ${status}` };
    },
  };
}

/** Waits until the domain serves, up to a limit: all roles start together, and an early call would fail. */
export async function untilDomainServes(limitMs: number, ...channels: readonly RpcChannel[]): Promise<void> {
  const endsAt = performance.now() + limitMs;
  const { probe } = domainCheck(...channels);
  while (performance.now() < endsAt) {
    const { ok } = await Promise.resolve(probe()).catch(() => ({ ok: false }));
    if (ok) {
      return;
    }
    await sleep(PROBE_AGAIN_AFTER_MS);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, ConfigError } from '../../config/config.js';
import { RpcChannel } from '../../rpc/client.js';
import { clientCredentials } from '../../rpc/connect.js';
import type { Check } from '../../telemetry/health.js';
import { withTlsFiles } from '../startup-error.js';

const PROBE_DEADLINE_MS = 1_000;
const PROBE_AGAIN_AFTER_MS = 50;

/** The way from edge or worker to the domain. */
export function openDomainChannel(config: Config, role: string): RpcChannel {
  if (!config.SERVICE_TOKEN) {
    throw new ConfigError([
      `SERVICE_TOKEN must be set to run the ${role} by itself, and be the same for the domain`,
    ]);
  }
  const channelCredentials = withTlsFiles(['GRPC_TLS_CA_FILE'], () =>
    clientCredentials(config.DOMAIN_ADDRESS, { caFile: config.GRPC_TLS_CA_FILE }),
  );
  return new RpcChannel(config.DOMAIN_ADDRESS, config.SERVICE_TOKEN.reveal(), channelCredentials);
}

/** Asks the domain itself, over the channel that requests take. */
export function domainCheck(channel: RpcChannel): Check {
  return {
    name: 'domain',
    required: true,
    probe: async () => {
      const status = await channel.health(PROBE_DEADLINE_MS);
      return status === 'SERVING' ? { ok: true } : { ok: false, detail: `the domain says ${status}` };
    },
  };
}

/** Until the domain serves, but not for long: all roles start together, and who asks too early fails for nothing. */
export async function untilDomainServes(channel: RpcChannel, limitMs: number): Promise<void> {
  const endsAt = performance.now() + limitMs;
  while (performance.now() < endsAt) {
    const status = await channel.health(PROBE_DEADLINE_MS).catch(() => undefined);
    if (status === 'SERVING') {
      return;
    }
    await sleep(PROBE_AGAIN_AFTER_MS);
  }
}

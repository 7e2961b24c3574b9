import type { ServiceProcess, serviceProcesses } from '../../support/service-process.js';

/** A domain and a worker without Temporal, each a process of its own. */
export async function startRolesApart(
  services: ReturnType<typeof serviceProcesses>,
  env: Record<string, string>,
): Promise<{ domain: ServiceProcess; worker: ServiceProcess }> {
  const domain = await services.start({ command: 'domain', env });
  const address = `unix:${domain.dataDir}/run/domain.sock`;
  const worker = await services.start({
    command: 'worker',
    env: { ...env, TEMPORAL_ADDRESS: undefined, DOMAIN_ADDRESS: address },
  });
  return { domain, worker };
}

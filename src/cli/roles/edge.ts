import type { Server } from 'node:http';
import { join } from 'node:path';
import { isLoopback } from '../../config/insecurities.js';
import { packageRoot } from '../../config/package.js';
import { createGatewayApi, createSignOnApi } from '../../edge/apis.js';
import { Admission } from '../../edge/contract/admission.js';
import { withLibrary } from '../../edge/docs/dispatch.js';
import { openLibrary } from '../../edge/docs/library.js';
import { withTryItValues } from '../../edge/docs/try-it-values.js';
import { closeListener, createListener, listen } from '../../edge/http/listener.js';
import { EXPLANATIONS } from '../../edge/problem.js';
import { addressOf } from '../../identifiers/network-address.js';
import { Health } from '../../telemetry/health.js';
import { counter } from '../../telemetry/metric-list.js';
import { domainsGauge, httpRequestTimer, requestsInFlight } from '../../telemetry/metrics.js';
import { demoApp, demoIds, tryItValues } from '../demo/demo-edge.js';
import { demoAppUrl } from '../from-config.js';
import { DEMO_APP_HOST } from '../ports.js';
import { cannotListen } from '../startup-error.js';
import { domainCheck, openDomainChannel } from './domain-channel.js';
import type { RoleOptions, RunningRole } from './role.js';
import { liveTokens } from './role-tokens.js';
import { clientFiles, watchedTlsFiles } from './tls-files.js';

/** The HTTP listeners: sign-on, gateway with documentation, application of a demo. Any number can run. */
export async function startEdge(role: RoleOptions): Promise<RunningRole> {
  const { config, log, metrics } = role;
  const tokens = liveTokens(role, 'edge', () => domain.renew());
  const domain = openDomainChannel(role, tokens, 'edge', watchedTlsFiles(role, clientFiles(config)));
  domainsGauge(metrics, () => ({ edge: domain.reports() }));
  const { ENVIRONMENT: environment, GATEWAY_URL: gatewayUrl, SIGN_ON_URL: signOnUrl } = config;
  const isDemo = environment === 'demo';
  const isLocalDemo =
    isDemo && isLoopback(new URL(gatewayUrl).hostname) && config.TRUSTED_PROXIES.length === 0;
  const refused = counter('http_requests_refused_total', metrics);
  const onRefused = () => refused.inc();
  const admission = new Admission(onRefused);
  const stopping = new AbortController();
  const options = { environment, gatewayUrl, signOnUrl, domain, log, admission, stopping: stopping.signal };
  const health = new Health([domainCheck(domain)]);
  const isDraining = () => health.draining;
  const timer = httpRequestTimer(metrics);
  const inFlight = requestsInFlight(metrics);
  const [signOn, gateway] = await Promise.all([
    createSignOnApi({ ...options, ...(isDemo && { demoAppUrl: demoAppUrl(config) }) }),
    createGatewayApi(options),
  ]);
  const library = openLibrary({
    ...options,
    demoGatewayUrl: config.DEMO_GATEWAY_URL,
    get demoIds() {
      return isDemo ? demoIds() : undefined;
    },
    distDir: join(packageRoot, 'dist'),
  });
  const { TRUSTED_PROXIES: trustedProxies, LISTEN_HOST: host } = config;
  const shared = { trustedProxies, log, timer, inFlight, onRefused, isDraining };
  const signOnListener = createListener({ api: 'sign-on', ...signOn, publicUrl: signOnUrl, ...shared });
  const readable = withTryItValues(isLocalDemo, () => tryItValues(config), withLibrary(library, gateway));
  const gatewayListener = createListener({
    ...{ api: 'gateway', dispatch: readable, publicUrl: gatewayUrl, explanations: EXPLANATIONS, ...shared },
  });
  const listeners: [server: Server, host: string, port: number, setting: string][] = [
    [signOnListener, host, config.SIGN_ON_PORT, 'SIGN_ON_PORT'],
    [gatewayListener, host, config.GATEWAY_PORT, 'GATEWAY_PORT'],
  ];
  if (isDemo) {
    const dispatch = demoApp(config);
    const server = createListener({ api: 'demo-app', dispatch, trustedProxies: [], log, timer, inFlight });
    listeners.push([server, DEMO_APP_HOST, config.DEMO_APP_PORT, 'DEMO_APP_PORT']);
  }
  for (const [server, host, port, setting] of listeners) {
    await listen(server, port, host).catch(cannotListen(`The port ${addressOf({ host, port })}`, setting));
  }
  return {
    health,
    stop: async () => {
      health.drain();
      stopping.abort();
      await Promise.all(listeners.map(([server]) => closeListener(server, config.SHUTDOWN_GRACE)));
      domain.close();
    },
  };
}

import type { Registry } from 'prom-client';
import {
  authorizationFaultCounter,
  certificateGauges,
  createMetricsRegistry,
  domainsGauge,
  httpRequestTimer,
  passwordMetrics,
  readinessGauge,
  refusalCounter,
  requestsInFlight,
  rpcCallTimer,
  storeMetrics,
  temporalBacklogGauge,
  temporalConfiguredGauge,
  temporalPollingGauge,
} from './metrics.js';
import {
  heldBackGauges,
  keyStepLagGauge,
  nextExpiryGauge,
  purgedRowsCounter,
  purgeLagGauge,
  storeSizeGauges,
} from './store-metrics.js';
import { attemptMetrics, deliveryEndCounter, outboxMetrics, relayMetrics } from './webhook-metrics.js';

/** A metric, as the documentation for operators describes it. */
export interface MetricDescription {
  name: string;
  type: string;
  help: string;
  /** Apart from `role`. */
  labels: string[];
  roles: string[];
  /** Whether it is a default metric of Node and its process, which every role has. */
  isDefault: boolean;
}

const unread = () => Promise.reject(new Error('is not read'));

/** What each role registers; a test compares this with the metrics of a running service. */
const OF_ROLES: Record<string, (registry: Registry) => void> = {
  edge: (registry) => {
    httpRequestTimer(registry);
    requestsInFlight(registry);
    refusalCounter(registry);
    certificateGauges(registry, () => []);
    domainsGauge(registry, () => ({}));
  },
  domain: (registry) => {
    rpcCallTimer(registry);
    storeMetrics(registry);
    passwordMetrics(registry).waiting(() => 0);
    authorizationFaultCounter(registry);
    deliveryEndCounter(registry);
    outboxMetrics(registry, unread, Date.now);
    purgedRowsCounter(registry);
    purgeLagGauge(registry, unread);
    keyStepLagGauge(registry, unread);
    storeSizeGauges(registry, unread);
    heldBackGauges(registry, unread);
    nextExpiryGauge(registry, unread);
    certificateGauges(registry, () => []);
  },
  worker: (registry) => {
    attemptMetrics(registry);
    relayMetrics(registry).slots(() => ({ free: 0, total: 0 }));
    temporalConfiguredGauge(registry);
    temporalPollingGauge(registry);
    temporalBacklogGauge(registry);
    certificateGauges(registry, () => []);
    domainsGauge(registry, () => ({}));
  },
};

type Registered = Pick<MetricDescription, 'name' | 'type' | 'help'> & { labelNames: string[] };

/** All metrics, by name. */
export function describeMetrics(): MetricDescription[] {
  const found = new Map<string, MetricDescription>();
  for (const [role, register] of Object.entries(OF_ROLES)) {
    const registry = createMetricsRegistry(role, '');
    const defaults = new Set(registry.getMetricsAsArray().map(({ name }) => name));
    defaults.delete('integration_build_info');
    readinessGauge(registry, unread);
    register(registry);
    for (const metric of registry.getMetricsAsArray() as unknown as Registered[]) {
      const { name, type, help, labelNames: labels } = metric;
      const isDefault = defaults.has(name);
      const present = found.get(name) ?? { name, type, help, labels, roles: [], isDefault };
      present.roles.push(role);
      found.set(name, present);
    }
  }
  return [...found.values()].sort((one, other) => one.name.localeCompare(other.name));
}

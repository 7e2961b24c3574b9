import type { Comparison } from '../harness/comparison.js';
import { listAgainstPeer } from './list-against-peer.js';

const listOfOne = {
  what: 'instance-integrations, list of 1',
  limit: 'HTTP, the check of the key, and the call to the domain',
  path: '/v1/instance-integrations',
  apiKeyOf: (service: { apiKeyFor(instanceIntegrations: number): string }) => service.apiKeyFor(1),
};

/** The list of one as our clients get it: whole, and as a 304 when they show the ETag of what they have. */
export const instanceIntegrations: readonly Comparison[] = [
  listAgainstPeer({
    ...listOfOne,
    goal: 0.25,
    showEtag: false,
  }),
  listAgainstPeer({
    ...listOfOne,
    goal: 0.32,
    showEtag: true,
  }),
];

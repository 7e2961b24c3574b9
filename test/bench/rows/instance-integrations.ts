import type { Comparison } from '../harness/comparison.js';
import { listAgainstPeer } from './list-against-peer.js';

const listOfOne = {
  path: '/v1/instance-integrations',
  apiKeyOf: (service: { apiKeyFor(instanceIntegrations: number): string }) => service.apiKeyFor(1),
};

/** The list of one as our clients get it: whole, and as a 304 when they show the ETag of what they have. */
export const instanceIntegrations: readonly Comparison[] = [
  listAgainstPeer({
    ...listOfOne,
    name: 'GET instance-integrations, list of 1 (answers/s)',
    goal: 0.1,
    showEtag: false,
  }),
  listAgainstPeer({
    ...listOfOne,
    name: 'GET instance-integrations, list of 1, ETag matches (answers/s)',
    goal: 0.12,
    showEtag: true,
  }),
];

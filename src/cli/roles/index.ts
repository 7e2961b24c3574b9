import { startDomain } from './domain.js';
import { startEdge } from './edge.js';
import type { RoleName, StartRole } from './role.js';
import { startWorker } from './worker.js';

export const roles: Record<RoleName, StartRole> = {
  domain: startDomain,
  worker: startWorker,
  edge: startEdge,
};

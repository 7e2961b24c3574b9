import type { RoleName, StartRole } from './role.js';

/** A role is loaded when it starts, so that a process holds only what its role needs. */
export const roles: Record<RoleName, StartRole> = {
  domain: async (options) => (await import('./domain.js')).startDomain(options),
  worker: async (options) => (await import('./worker.js')).startWorker(options),
  edge: async (options) => (await import('./edge.js')).startEdge(options),
};

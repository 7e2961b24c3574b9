import type { RoleName, StartRole } from './role.js';

/** Each is loaded when it is started, so that a process holds what its own role needs and no more. */
export const roles: Record<RoleName, StartRole> = {
  domain: async (options) => (await import('./domain.js')).startDomain(options),
  worker: async (options) => (await import('./worker.js')).startWorker(options),
  edge: async (options) => (await import('./edge.js')).startEdge(options),
};

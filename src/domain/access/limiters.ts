import type { Clock } from '../clock.js';
import { type CallLimiter, type Rate, RateLimiter } from './rate-limiter.js';
import { type CountStore, type CountsListener, SharedCounts } from './shared-counts.js';
import { type SharedLimit, SharedLimiter } from './shared-limiter.js';

export interface LimiterSettings {
  /** Undefined for a node that is alone. */
  store: CountStore | undefined;
  clock: Clock;
  hash: SharedLimit['hash'];
  listener: CountsListener;
}

export type NewLimiter = (name: string, rate: Rate, options?: Pick<SharedLimit, 'asksFirst'>) => CallLimiter;

/** Makes limiters that count over all nodes, or in memory where there is one node. */
export function limitersOver({ store, clock, hash, listener }: LimiterSettings): NewLimiter {
  if (!store) {
    return (_, rate) => new RateLimiter(rate, clock);
  }
  const counts = new SharedCounts(store, clock, listener);
  return (name, rate, options) => new SharedLimiter({ name, rate, hash, ...options }, counts, clock);
}

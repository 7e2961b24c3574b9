import type { NoteCost } from '../harness/comparison.js';
import type { Job, LoadReading } from '../load/generator.js';
import type { Load } from '../load/load.js';
import { metered } from '../subjects/meter.js';
import type { StartedProcess } from '../subjects/started-process.js';

/** A load on a service that notes what it cost, for each piece of work of so many requests. */
export function pricedLoad(load: Load, service: StartedProcess, noteCost: NoteCost, requestsEach = 1): Load {
  return async (job: Job) => {
    const countOf = ({ answered }: LoadReading) => answered / requestsEach;
    const { outcome, cost } = await metered(service, () => load(job), countOf);
    noteCost(cost);
    return outcome;
  };
}

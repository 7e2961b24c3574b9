import type { Comparison } from '../harness/comparison.js';
import { instanceIntegrations } from './instance-integrations.js';
import { memoryAtRest } from './memory-at-rest.js';
import { secondStart } from './second-start.js';

/** In the order of the table. */
export const comparisons: readonly Comparison[] = [...instanceIntegrations, secondStart, memoryAtRest];

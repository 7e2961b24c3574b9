import type { Comparison } from '../harness/comparison.js';
import { instanceIntegrations } from './instance-integrations.js';
import { memoryAtRest } from './memory-at-rest.js';
import { memoryOfSlowReaders } from './memory-of-slow-readers.js';
import { secondStart } from './second-start.js';
import { sizeOfDirectory } from './size-of-directory.js';
import { workers } from './workers.js';

/** In the order of the table. */
export const comparisons: readonly Comparison[] = [
  ...instanceIntegrations,
  ...workers,
  ...sizeOfDirectory,
  secondStart,
  memoryAtRest,
  memoryOfSlowReaders,
];

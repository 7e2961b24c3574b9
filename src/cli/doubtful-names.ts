import type { Config } from '../config/config.js';
import { misspeltIn } from '../config/misspelt.js';

/** Variables that look like settings. The start only warns, because another program may read them. */
export function doubtfulNames(config: Config, environment: NodeJS.ProcessEnv): string[] {
  return misspeltIn(environment, config.FOREIGN_VARIABLES).map(({ problem }) => problem);
}

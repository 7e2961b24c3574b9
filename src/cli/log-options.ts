import type { Config } from '../config/config.js';
import { packageVersion } from '../config/package.js';
import type { LogOptions } from '../telemetry/log.js';

export function logOptionsOf(config: Config): Omit<LogOptions, 'role'> {
  return { version: packageVersion, level: config.LOG_LEVEL, format: config.LOG_FORMAT };
}

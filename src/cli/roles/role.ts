import type { Registry } from 'prom-client';
import type { Config } from '../../config/config.js';
import type { Health } from '../../telemetry/health.js';
import type { Log } from '../../telemetry/log.js';

export const ROLE_NAMES = ['domain', 'worker', 'edge'] as const;

export type RoleName = (typeof ROLE_NAMES)[number];

export interface RoleOptions {
  config: Config;
  log: Log;
  metrics: Registry;
  /** Aborted when the process is asked to end during the start. */
  ending: AbortSignal;
}

/** The process was asked to end before the role started. */
export class EndedEarly extends Error {}

/** A started role. */
export interface RunningRole {
  health: Health;
  /** Lets work end within the grace, then releases everything. */
  stop(): Promise<void>;
}

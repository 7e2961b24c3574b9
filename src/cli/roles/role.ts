import type { Registry } from 'prom-client';
import type { Config } from '../../config/config.js';
import type { Health } from '../../telemetry/health.js';
import type { Log } from '../../telemetry/log.js';

export const roleNames = ['domain', 'worker', 'edge'] as const;

export type RoleName = (typeof roleNames)[number];

export interface RoleOptions {
  config: Config;
  log: Log;
  metrics: Registry;
  /** Aborted when the process is asked to end, for a start that waits. */
  ending: AbortSignal;
}

/** The process was asked to end before the role had started. */
export class EndedEarly extends Error {}

/** A part of the service that runs, from its start to its stop. */
export interface RunningRole {
  health: Health;
  /** Lets what is under way end within the grace, then lets everything go. */
  stop(): Promise<void>;
}

export type StartRole = (options: RoleOptions) => Promise<RunningRole>;

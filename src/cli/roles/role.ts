import type { Registry } from 'prom-client';
import type { Config } from '../../config/config.js';
import type { SecretSettingName } from '../../config/settings.js';
import type { Health } from '../../telemetry/health.js';
import type { Log } from '../../telemetry/log.js';
import type { Opener } from '../ports.js';

/** In the order of their start; `serve` stops them in the reverse one. */
export const ROLE_NAMES = ['domain', 'worker', 'edge'] as const;

export type RoleName = (typeof ROLE_NAMES)[number];

/** A role reads only these secrets: its user may lack permission for the files of the others. */
export const SECRETS_OF: Record<RoleName, readonly SecretSettingName[]> = {
  domain: [
    ...(['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL'] as const),
    ...(['EDGE_TOKEN', 'RELAY_TOKEN', 'MAINTENANCE_TOKEN'] as const),
  ],
  worker: ['RELAY_TOKEN', 'MAINTENANCE_TOKEN', 'TEMPORAL_API_KEY'],
  edge: ['EDGE_TOKEN'],
};

export interface RoleOptions {
  config: Config;
  /** Those of `portsOf` whose ports this process opens. */
  openers: readonly Opener[];
  log: Log;
  metrics: Registry;
  /** Aborted when the process is asked to end during the start. */
  ending: AbortSignal;
}

/** The process was asked to end before the role started. */
export class EndedEarly extends Error {}

export interface RunningRole {
  health: Health;
  /** Lets work end within the grace, then releases everything. */
  stop(): Promise<void>;
}

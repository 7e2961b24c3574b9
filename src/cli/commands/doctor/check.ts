import type { Config } from '../../../config/config.js';
import type { Source } from '../../../config/secret-files.js';
import type { Check, Found } from '../../../store/checks/check.js';
import { runsDomain } from '../../sockets.js';
import type { OpenedPlace } from './database-place.js';

/** The settings and the opened database that the checks read. */
export interface Installation {
  config: Config;
  environment: Source;
  /** Without limits of time and size. */
  thorough: boolean;
  database: OpenedPlace;
}

export interface DoctorCheck extends Omit<Check, 'find'> {
  find(installation: Installation): Promise<Found> | Found;
}

/** The check does not apply here, or needs what another check found missing. Completes "Not checked: …". */
export class Skipped extends Error {}

export function skipUnless(applies: boolean, reason: string): asserts applies {
  if (!applies) {
    throw new Skipped(reason);
  }
}

/** The machine of an edge or worker needs neither a database nor its key. */
export function requireDomain(config: Config): void {
  skipUnless(runsDomain(config), 'no domain runs here');
}

export interface Outcome extends Found {
  name: string;
  about: string;
  remedy: string;
  status: 'ok' | 'warning' | 'error' | 'failed' | 'skipped';
  /** Why it was skipped or failed. */
  reason?: string;
}

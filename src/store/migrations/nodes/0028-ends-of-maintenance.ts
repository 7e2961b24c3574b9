import { script } from '../script.js';

/** When the last run of a job ended, so that of several workers with timers one runs it. */
export const up = script('alter table maintenance_runs add column ended_at bigint');

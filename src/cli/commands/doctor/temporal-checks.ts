import type { TemporalFacts } from '../../../../workflows/inspection.js';
import type { Config } from '../../../config/config.js';
import { foundIn, lengthOf } from '../../../store/checks/check.js';
import { namespaceClaimOf } from '../../from-config.js';
import { temporalAccess } from '../../roles/temporal/access.js';
import { type DoctorCheck, type Installation, skipUnless } from './check.js';

/** Workers poll at least once a minute; Temporal forgets a stopped worker after five minutes. */
const LONG_SILENCE_MS = 120_000;
const MOST_APART_MS = 2_000;

const temporalAnswers: DoctorCheck = {
  name: 'temporal',
  about: 'Temporal answers, and has the namespace, which is that of this installation.',
  severity: 'warning',
  remedy:
    'Start Temporal, or correct TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE. Without Temporal, the service still sends and retries webhooks, by the times in the database.',
  find: async (installation) => {
    const { problem } = await factsOf(installation);
    return foundIn(problem === undefined ? [] : [problem], installation.config.TEMPORAL_ADDRESS);
  },
};

const attributesExist: DoctorCheck = {
  name: 'temporal-attributes',
  about: 'The namespace has the search attributes of the workflows.',
  severity: 'warning',
  remedy:
    'Add them with the command in the finding: without them, operators cannot search retries by subscription.',
  find: async (installation) => {
    const { shortcoming } = await answered(installation);
    return foundIn(shortcoming === undefined ? [] : [shortcoming]);
  },
};

const schedulesRun: DoctorCheck = {
  name: 'temporal-schedules',
  about: 'The schedules of the purge and of the signing keys exist, are not paused, and run on time.',
  severity: 'warning',
  remedy:
    'Missing: start a worker, which creates them. Paused: `temporal schedule toggle --unpause --schedule-id …`. Late: check that a worker runs.',
  find: async (installation) => foundIn((await answered(installation)).schedules),
};

const workerPolls: DoctorCheck = {
  name: 'temporal-worker',
  about: 'Workers poll Temporal, and get its tasks.',
  severity: 'warning',
  remedy:
    'No worker: start one (`integration serve` or `integration worker`) with the same TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE. Workers that get no tasks: an upgrade takes a few minutes; after that, see “Versions of workers in Temporal” on the page “Upgrades and data”.',
  find: async (installation) => {
    const { lastPollAt, idle } = await answered(installation);
    if (lastPollAt === undefined) {
      return foundIn(['no worker has polled in the last minutes']);
    }
    return foundIn(idle === undefined ? [] : [idle]);
  },
};

const clocksAgree: DoctorCheck = {
  name: 'temporal-clock',
  about: 'The clocks of this machine and of Temporal agree, judged by the last poll of a worker.',
  severity: 'warning',
  remedy: 'Synchronize both clocks with NTP (`timedatectl`).',
  find: async (installation) => {
    const { lastPollAt } = await answered(installation);
    skipUnless(lastPollAt !== undefined, 'no worker polls');
    const ageMs = Date.now() - lastPollAt;
    const behind = `this machine is at least ${lengthOf(-ageMs)} behind Temporal`;
    const ahead = `the last poll of a worker was ${lengthOf(ageMs)} ago by the clock of this machine`;
    return foundIn(ageMs < -MOST_APART_MS ? [behind] : ageMs > LONG_SILENCE_MS ? [ahead] : []);
  },
};

export const temporalChecks = [temporalAnswers, attributesExist, schedulesRun, workerPolls, clocksAgree];

/** All checks share one inspection. */
const inspections = new WeakMap<Installation, Promise<TemporalFacts>>();

function factsOf(installation: Installation): Promise<TemporalFacts> {
  const { TEMPORAL_ADDRESS: address } = installation.config;
  skipUnless(address !== undefined, 'TEMPORAL_ADDRESS is not set');
  const inspection = inspections.get(installation) ?? inspect(address, installation.config);
  inspections.set(installation, inspection);
  return inspection;
}

async function answered(installation: Installation): Promise<TemporalFacts> {
  const facts = await factsOf(installation);
  skipUnless(facts.problem === undefined, 'the namespace cannot be used');
  return facts;
}

async function inspect(address: string, config: Config): Promise<TemporalFacts> {
  const { inspectTemporal } = await import('../../../../workflows/inspection.js');
  const place = { address, namespace: config.TEMPORAL_NAMESPACE, ...temporalAccess(config) };
  return inspectTemporal(place, Date.now, namespaceClaimOf(config));
}

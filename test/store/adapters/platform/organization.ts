import { createLocation } from '../../../../src/domain/platform/organization/locations.js';
import { createUnitType } from '../../../../src/domain/platform/organization/unit-types.js';
import {
  onboardWorker,
  type WorkerOnboarding,
} from '../../../../src/domain/platform/people/worker-changes.js';
import type { Changes } from '../../../../src/domain/platform/unit-of-work.js';
import type { Platform } from './people.js';

/** A write with its effects: its events, and the data with a new version. */
export async function tracked<T>(platform: Platform, work: (changes: Changes) => Promise<T>) {
  await platform.newEvents();
  const before = await platform.dataVersions();
  const answer = await platform.run(work);
  const after = await platform.dataVersions();
  const touched = Object.keys(after).filter((id) => before[id] !== undefined && before[id] !== after[id]);
  return { answer, touched, events: await platform.newEvents() };
}

export function newLocation({ run, client }: Platform, name: string) {
  return run((changes) => createLocation(changes, { clientId: client.id, name }));
}

/** A unit type with one top-level unit of each name. */
export function newUnits({ run, client }: Platform, name: string, units: readonly string[]) {
  return run((changes) =>
    createUnitType(changes, {
      clientId: client.id,
      name,
      units: units.map((unit) => ({ name: unit, subUnits: [] })),
    }),
  );
}

export function onboarding({ client }: Pick<Platform, 'client'>, fields: Partial<WorkerOnboarding> = {}) {
  return {
    clientId: client.id,
    email: 'ines.carver@example.com',
    firstName: 'Ines',
    lastName: 'Carver',
    jobTitles: [],
    unitIds: [],
    ...fields,
  };
}

let people = 0;

export function onboard(platform: Platform, fields: Partial<WorkerOnboarding> = {}) {
  people += 1;
  const email = `worker.${people}@example.com`;
  return platform.run((changes) => onboardWorker(changes, onboarding(platform, { email, ...fields })));
}

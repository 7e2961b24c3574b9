import type { Address } from '../../directory/names.js';
import { type AddressInput, validateAddress } from '../addresses.js';
import type { Violations } from '../violations.js';

const MAX_PHONE_LENGTH = 50;
const MAX_JOB_TITLES = 100;
const MAX_UNITS = 100;

/** The given fields of a worker; null means named without a value. */
export interface WorkerFields {
  firstName?: string;
  lastName?: string;
  phone?: string | null;
  jobTitles?: readonly string[] | null;
  address?: AddressInput | null;
}

/** Validates the fields that are present, except the e-mail address. */
export function validateWorkerFields(
  violations: Violations,
  fields: WorkerFields,
  earlier?: Address | null,
): void {
  violations.keptText('first_name', fields.firstName);
  violations.keptText('last_name', fields.lastName);
  violations.clearableText('phone', fields.phone, MAX_PHONE_LENGTH);
  validateJobTitles(violations, fields.jobTitles ?? []);
  validateAddress(violations, 'address', fields.address, earlier);
}

export function validateUnits(
  violations: Violations,
  { unitIds, primaryUnitId }: { unitIds: readonly string[]; primaryUnitId?: string },
): void {
  if (unitIds.length > MAX_UNITS) {
    violations.add('unit_ids', `must not be more than ${MAX_UNITS}`);
  }
  refuseRepeated(violations, 'unit_ids', unitIds);
  if (primaryUnitId !== undefined && !unitIds.includes(primaryUnitId)) {
    violations.add('primary_unit_id', 'must be one of unit_ids');
  }
}

export function fullNameOf(firstName: string, lastName: string): string {
  return `${firstName} ${lastName}`;
}

function validateJobTitles(violations: Violations, titles: readonly string[]): void {
  if (titles.length > MAX_JOB_TITLES) {
    violations.add('job_titles', `must not be more than ${MAX_JOB_TITLES}`);
  }
  for (const [index, title] of titles.entries()) {
    violations.requiredText(`job_titles[${index}]`, title);
  }
  refuseRepeated(violations, 'job_titles', titles);
}

function refuseRepeated(violations: Violations, path: string, values: readonly string[]): void {
  const seen = new Set<string>();
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) {
      violations.add(`${path}[${index}]`, 'is there already');
    }
    seen.add(value);
  }
}

import type { Address } from '../../directory/names.js';
import { type AddressInput, validateAddress } from '../addresses.js';
import type { Violations } from '../violations.js';

const MAX_PHONE_LENGTH = 50;
const MAX_JOB_TITLES = 100;
const MAX_UNITS = 100;

/** The fields of a request: undefined was not sent, null clears the field. */
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
  violations.distinctItems('unit_ids', violations.listOfAtMost(MAX_UNITS, 'unit_ids', unitIds));
  if (primaryUnitId !== undefined && !unitIds.includes(primaryUnitId)) {
    violations.add('primary_unit_id', 'must be one of unit_ids');
  }
}

export function fullNameOf(firstName: string, lastName: string): string {
  return `${firstName} ${lastName}`;
}

function validateJobTitles(violations: Violations, titles: readonly string[]): void {
  const checked = violations.listOfAtMost(MAX_JOB_TITLES, 'job_titles', titles);
  for (const [index, title] of checked.entries()) {
    violations.requiredText(`job_titles[${index}]`, title);
  }
  violations.distinctItems('job_titles', checked);
}

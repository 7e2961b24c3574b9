import type { Check, CheckSettings, Found } from '../../../src/store/checks/check.js';
import { damageChecks } from '../../../src/store/checks/damage.js';
import type { Reader } from '../../../src/store/database.js';

export type Inspection = Pick<Check, 'name' | 'about' | 'remedy'> & Found;

/** Runs all checks for damage. */
export async function inspect(reader: Reader, settings: CheckSettings): Promise<Inspection[]> {
  const inspections: Inspection[] = [];
  for (const { name, about, remedy, find } of damageChecks) {
    inspections.push({ name, about, remedy, ...(await find(reader, settings)) });
  }
  return inspections;
}

import { insecuritiesOf } from '../../../config/insecurities.js';
import { misspeltIn } from '../../../config/misspelt.js';
import { settings } from '../../../config/settings.js';
import { foundIn } from '../../../store/checks/check.js';
import type { DoctorCheck } from './check.js';

export const namesAreKnown: DoctorCheck = {
  name: 'settings',
  about: 'No variable of the environment looks like a misspelt setting.',
  severity: 'warning',
  remedy: 'Rename or remove the variable, or name it in FOREIGN_VARIABLES if another program reads it.',
  find: ({ environment, config }) =>
    foundIn(
      misspeltIn(environment, Object.keys(settings), config.FOREIGN_VARIABLES).map(({ name, nearest }) =>
        nearest === undefined
          ? `${name} is not a setting`
          : `${name} is not a setting; did you mean ${nearest}?`,
      ),
    ),
};

export const nothingIsInsecure: DoctorCheck = {
  name: 'insecure-settings',
  about: 'INSECURE_ALLOWED accepts no insecure setting.',
  severity: 'warning',
  remedy: 'Correct the setting and remove its name from INSECURE_ALLOWED.',
  find: ({ config }) => foundIn(insecuritiesOf(config).map(({ problem }) => problem)),
};

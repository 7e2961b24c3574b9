import { insecuritiesOf } from '../../../config/insecurities.js';
import { type Misspelt, misspeltIn } from '../../../config/misspelt.js';
import { type Found, foundIn } from '../../../store/checks/check.js';
import type { DoctorCheck, Installation } from './check.js';

const RENAME = 'Rename or remove the variable, or name it in FOREIGN_VARIABLES if another program reads it.';

export const noNameLooksMisspelt: DoctorCheck = {
  name: 'settings',
  about: 'No variable of the environment looks like a misspelt setting.',
  severity: 'warning',
  remedy: RENAME,
  find: (installation) => misspelt(installation, { isCertain: false }),
};

export const noNameIsRefused: DoctorCheck = {
  name: 'misspelt-settings',
  about: 'No variable of the environment is a misspelt setting that the start refuses.',
  severity: 'error',
  remedy: RENAME,
  find: (installation) => misspelt(installation, { isCertain: true }),
};

function misspelt({ environment, config }: Installation, { isCertain }: Pick<Misspelt, 'isCertain'>): Found {
  return foundIn(
    misspeltIn(environment, config.FOREIGN_VARIABLES)
      .filter((found) => found.isCertain === isCertain)
      .map(({ name, nearest }) =>
        nearest === undefined
          ? `${name} is not a setting`
          : `${name} is not a setting; did you mean ${nearest}?`,
      ),
  );
}

export const noInsecureSettingIsAllowed: DoctorCheck = {
  name: 'insecure-settings',
  about: 'INSECURE_ALLOWED accepts no insecure setting.',
  severity: 'warning',
  remedy: 'Correct the setting and remove its name from INSECURE_ALLOWED.',
  find: ({ config }) => foundIn(insecuritiesOf(config).map(({ problem }) => problem)),
};

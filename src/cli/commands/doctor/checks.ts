import { certificatesAreUsable, noCertificateExpiresSoon } from './certificate-checks.js';
import type { DoctorCheck } from './check.js';
import { databaseChecks } from './database-checks.js';
import { diskHasRoom, writeAheadLogIsShort, writesSucceed } from './disk-checks.js';
import { keyFileIsUsable, secretsArePrivate, userOwnsTheData } from './file-checks.js';
import { portsAreFree, serviceIsReady } from './port-checks.js';
import { noInsecureSettingIsAllowed, noNameIsRefused, noNameLooksMisspelt } from './settings-checks.js';
import { temporalChecks } from './temporal-checks.js';

/** In the order of the report. */
export const checks: readonly DoctorCheck[] = [
  noNameIsRefused,
  noNameLooksMisspelt,
  noInsecureSettingIsAllowed,
  userOwnsTheData,
  keyFileIsUsable,
  secretsArePrivate,
  certificatesAreUsable,
  noCertificateExpiresSoon,
  portsAreFree,
  serviceIsReady,
  diskHasRoom,
  writeAheadLogIsShort,
  writesSucceed,
  ...databaseChecks,
  ...temporalChecks,
];

import { certificatesAreUsable, certificatesLast } from './certificate-checks.js';
import type { DoctorCheck } from './check.js';
import { databaseChecks } from './database-checks.js';
import { diskHasRoom, logIsShort, writesSucceed } from './disk-checks.js';
import { keyFileIsUsable, secretsAreClosed, userIsTheOwner } from './file-checks.js';
import { portsAreFree, serviceIsReady } from './port-checks.js';
import { namesAreKnown, namesAreNotRefused, nothingIsInsecure } from './settings-checks.js';
import { temporalChecks } from './temporal-checks.js';

/** In the order of the report. */
export const checks: readonly DoctorCheck[] = [
  namesAreNotRefused,
  namesAreKnown,
  nothingIsInsecure,
  userIsTheOwner,
  keyFileIsUsable,
  secretsAreClosed,
  certificatesAreUsable,
  certificatesLast,
  portsAreFree,
  serviceIsReady,
  diskHasRoom,
  logIsShort,
  writesSucceed,
  ...databaseChecks,
  ...temporalChecks,
];

import { Admission } from '../../src/edge/contract/admission.js';
import { LONGER_THAN_A_TEST_MS } from './eventually.js';

/** As in service, but it refuses no request for its wait: on a busy machine, many at once begin slowly. */
export function patientAdmission(): Admission {
  return new Admission(undefined, { few: Number.POSITIVE_INFINITY, mostWaitMs: LONGER_THAN_A_TEST_MS });
}

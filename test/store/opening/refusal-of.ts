import { expect } from '@jest/globals';
import { openStore, type StoreOptions } from '../../../src/store/store.js';
import { StoreError } from '../../../src/store/store-error.js';
import { PATIENT } from '../../support/databases.js';

const SENTENCE = /^[A-Z].{20,}\.$/s;

/** Why the store does not open. */
export async function refusalOf(options: StoreOptions): Promise<StoreError> {
  const error = await openStore({ limits: PATIENT, ...options }).then(
    (store) => store.close().then(() => new Error('It opened.')),
    (refusal: Error) => refusal,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect(error.message).toMatch(SENTENCE);
  return error as StoreError;
}

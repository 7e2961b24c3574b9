import { afterAll } from '@jest/globals';
import {
  type PasswordHasherOptions,
  type ThreadedPasswordHasher,
  threadedPasswordHasher,
} from '../../src/passwords/password-hasher.js';

export const sourceThread = new URL('./password-thread.js', import.meta.url);

/** The real one; its threads are gone after the group of tests that describes it. */
export function passwordHasher(options: PasswordHasherOptions = {}): ThreadedPasswordHasher {
  const hasher = threadedPasswordHasher({ threadFile: sourceThread, ...options });
  afterAll(() => hasher.close());
  return hasher;
}

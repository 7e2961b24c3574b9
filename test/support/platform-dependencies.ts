import { createHmac } from 'node:crypto';
import type { PasswordHasher } from '../../src/domain/credentials/passwords.js';
import type { PlatformUnitOfWork } from '../../src/domain/platform/unit-of-work.js';
import type { PlatformDependencies } from '../../src/rpc/domain-server/platform/write.js';

/** Fast, unlike a real one; the password is only reversed. */
export const quickHasher: PasswordHasher = {
  hash: async (password) => `$quick$${Buffer.from(password).reverse().toString('base64url')}`,
  verify: async (hash, password) => hash === (await quickHasher.hash(password)),
};

/** What the platform's service needs beside the database. */
export function platformDependencies(
  unitOfWork: PlatformUnitOfWork,
  forgetCopies: PlatformDependencies['forgetCopies'] = async () => undefined,
): PlatformDependencies {
  return {
    unitOfWork,
    forgetCopies,
    clock: Date.now,
    passwords: quickHasher,
    signOnUrl: 'https://sign-on.example.com',
    hashRequest: (bytes) => createHmac('sha256', 'a key of the tests').update(bytes).digest(),
  };
}

import { createHmac } from 'node:crypto';
import type { PasswordHasher } from '../../src/domain/credentials/passwords.js';
import type { UnitOfWork } from '../../src/domain/platform/unit-of-work.js';
import type { PlatformDependencies } from '../../src/rpc/services/platform/index.js';

/** As quick as a real one is slow; what it makes still tells nobody the password who cannot read it backwards. */
export const quickHasher: PasswordHasher = {
  hash: async (password) => `$quick$${Buffer.from(password).reverse().toString('base64url')}`,
  verify: async (hash, password) => hash === (await quickHasher.hash(password)),
};

/** What the platform's service needs beside the database. */
export function platformDependencies(unitOfWork: UnitOfWork): PlatformDependencies {
  return {
    unitOfWork,
    clock: Date.now,
    passwords: quickHasher,
    signOnUrl: 'https://sign-on.example.com',
    hashRequest: (bytes) => createHmac('sha256', 'a key of the tests').update(bytes).digest(),
  };
}

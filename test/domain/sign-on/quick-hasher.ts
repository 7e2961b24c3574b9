import type { PasswordHasher } from '../../../src/domain/credentials/passwords.js';

/** Hashes in no time, and remembers what it was asked. */
export interface QuickHasher extends PasswordHasher {
  /** Of the checks so far: whether there was a hash to check against. */
  checks: boolean[];
  /** Of the checks and hashes so far: for which network. */
  networks: unknown[];
  /** Set to do something while a password is being checked or hashed. */
  meanwhile: () => Promise<unknown>;
}

export function quickHasher(): QuickHasher {
  const hasher: QuickHasher = {
    checks: [],
    networks: [],
    meanwhile: async () => undefined,
    hash: async (password, network) => {
      hasher.networks.push(network);
      await hasher.meanwhile();
      return `hash of ${password}`;
    },
    verify: async (hash, password, network) => {
      hasher.networks.push(network);
      hasher.checks.push(hash !== undefined);
      await hasher.meanwhile();
      return hash === `hash of ${password}`;
    },
  };
  return hasher;
}

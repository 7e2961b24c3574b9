import { availableParallelism } from 'node:os';

/** Tests are TypeScript modules that Node itself loads, see support/runner. */
export default {
  rootDir: '..',
  roots: ['<rootDir>/test'],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testEnvironment: '<rootDir>/test/support/runner/environment.cjs',
  runtime: '<rootDir>/test/support/runner/runtime.cjs',
  globalSetup: '<rootDir>/test/support/postgres/global-setup.js',
  globalTeardown: '<rootDir>/test/support/postgres/global-teardown.js',
  transform: {},
  injectGlobals: false,
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/generated/sdk/', '<rootDir>/.data/'],
  // One more than processors, for when a test waits. With more, roles are so slow that they refuse requests.
  // With more than eight, their stores could take all connections of the one PostgreSQL.
  maxWorkers: Math.min(availableParallelism() + 1, 8),
  testTimeout: 180_000,
  // Half a second, jest's default, is not enough to free half a gigabyte: jest then reported a leak.
  workerGracefulExitTimeout: 30_000,
};

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
  // On two processors jest itself would leave one to itself, which has little to do.
  maxWorkers: 2,
  testTimeout: 60_000,
};

/** Tests run as ES modules (`NODE_OPTIONS=--experimental-vm-modules`, in the Makefile), TypeScript by swc. */
export default {
  rootDir: '..',
  roots: ['<rootDir>/test'],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testEnvironment: 'node',
  globalSetup: '<rootDir>/test/support/postgres/global-setup.js',
  globalTeardown: '<rootDir>/test/support/postgres/global-teardown.js',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/generated/sdk/', '<rootDir>/.data/'],
  // On two processors jest itself would leave one to itself, which has little to do.
  maxWorkers: 2,
  testTimeout: 60_000,
};

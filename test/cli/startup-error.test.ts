import { constants } from 'node:os';
import { expect, test } from '@jest/globals';
import { cannotListen, exitCodeOfStart, StartupError } from '../../src/cli/startup-error.js';
import { ConfigError } from '../../src/config/config.js';
import { SecretsKeyError } from '../../src/keys/secrets-key.js';
import { StoreError } from '../../src/store/store-error.js';

test.each([
  ['EADDRNOTAVAIL', 1, 'this machine does not have that address. Set LISTEN_HOST to one that it has.'],
  ['ENOTFOUND', 78, 'its name is unknown. Set LISTEN_HOST to a name or address of this machine.'],
  ['EAI_AGAIN', 1, 'its name cannot be looked up now. Try again, or set LISTEN_HOST to an address.'],
])('after %s of a host, a start ends with exit code %i', async (code, exitCode, why) => {
  const error = await Promise.reject(Object.assign(new Error(), { code }))
    .catch(cannotListen('The port edge.internal:4000', 'SIGN_ON_PORT'))
    .catch((refusal: Error) => refusal);
  expect(error).toMatchObject({ message: `The port edge.internal:4000 cannot be used: ${why}` });
  expect(exitCodeOfStart(error)).toBe(exitCode);
});

const withCode = (code: string) => ({ cause: Object.assign(new Error(), { code }) });

test.each<[string, number | undefined, unknown]>([
  ['a file for which there is no room', 1, new StartupError('', withCode('ENOSPC'))],
  ['a used-up quota', 1, new StartupError('', withCode(`Unknown system error -${constants.errno.EDQUOT}`))],
  ['a key file when the system has too many open', 1, new SecretsKeyError('', withCode('ENFILE'))],
  ['a key file that is missing', 78, new SecretsKeyError('', withCode('ENOENT'))],
  ['settings', 78, new ConfigError([])],
  ['a database, on which the store has decided', 78, new StoreError('', withCode('SQLITE_BUSY'))],
  ['a fault of its own', undefined, new Error('', withCode('ENOSPC'))],
])('a start that fails because of %s ends with exit code %s', (_, exitCode, error) => {
  expect(exitCodeOfStart(error)).toBe(exitCode);
});

test.each([
  ['EADDRINUSE', 78],
  ['ENFILE', 1],
])('a port that fails with %s ends the start with exit code %i', async (code, exitCode) => {
  const refusal = Promise.reject(withCode(code).cause).catch(cannotListen('The port 4000', 'SIGN_ON_PORT'));
  expect(exitCodeOfStart(await refusal.catch((error: Error) => error))).toBe(exitCode);
});

import { expect, test } from '@jest/globals';
import { cannotListen, exitCodeOfStart } from '../../src/cli/startup-error.js';

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

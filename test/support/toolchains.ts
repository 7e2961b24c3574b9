import { describe, test } from '@jest/globals';
import { findToolchain, missing, type ToolchainName } from './programs.js';

export { requireToolchain, type ToolchainName } from './programs.js';

/**
 * A group of tests that needs a tool. Without it the group is skipped and the command that installs the tool
 * is shown; under CI=true it fails. Use the executable in hooks and tests only, because skipped groups have
 * none.
 */
export function describeWith(name: ToolchainName, title: string, body: (executable: string) => void): void {
  const executable = findToolchain(name, process.env);
  if (executable) {
    describe(title, () => body(executable));
    return;
  }
  if (process.env.CI === 'true') {
    describe(title, () => {
      test(`${name} is installed, because CI skips nothing`, () => {
        throw new Error(missing(name));
      });
    });
    return;
  }
  process.stderr.write(`Skipped “${title}”: ${missing(name)}\n`);
  describe.skip(`${title} (${missing(name)})`, () => body(''));
}

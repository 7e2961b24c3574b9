import { join } from 'node:path';
import { type Driven, driven } from '../drivers/line-driver.js';
import { projectFolder, pythonWithSdk } from './installed-package.js';

/** Call it where a group of tests is described. */
export function pythonDriver(python: string): Driven {
  return driven(async () => ({
    command: await pythonWithSdk(python),
    args: [join(projectFolder, 'driver.py')],
    cwd: projectFolder,
  }));
}

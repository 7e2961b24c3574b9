import { afterAll } from '@jest/globals';
import { type Driven, driven, sqliteBinding } from '../drivers/line-driver.js';
import { GoProject } from './installed-module.js';

/** Call it where a group of tests is described. */
export function goDriver(go: string): Driven {
  let project: GoProject | undefined;
  const driver = driven(async () => {
    project = await GoProject.install(go);
    return {
      command: await project.build(),
      args: [],
      cwd: project.folder,
      env: { NODE: process.execPath, SQLITE_BINDING: sqliteBinding },
    };
  });
  afterAll(() => project?.remove());
  return driver;
}

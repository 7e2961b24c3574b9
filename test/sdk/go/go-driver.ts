import { type Driven, driven, sqliteBinding } from '../drivers/line-driver.js';
import { GoProject } from './installed-module.js';

/** Call it where a group of tests is described. */
export function goDriver(go: string): Driven {
  return driven(async () => {
    const project = await GoProject.install(go);
    return {
      command: await project.build(),
      args: [],
      cwd: project.folder,
      env: { NODE: process.execPath, SQLITE_BINDING: sqliteBinding },
    };
  });
}

import { rmSync } from 'node:fs';
import { afterAll } from '@jest/globals';
import { type Driven, driven, sqliteBinding } from '../drivers/line-driver.js';
import { Project } from './installed-package.js';

/** Call it where a group of tests is described. */
export function typescriptDriver(): Driven {
  let project: Project | undefined;
  const driver = driven(async () => {
    project = await Project.install();
    return {
      command: process.execPath,
      args: [project.program('driver')],
      cwd: project.folder,
      env: { SQLITE_BINDING: sqliteBinding },
    };
  });
  afterAll(() => rmSync(project?.folder ?? '', { recursive: true, force: true }));
  return driver;
}

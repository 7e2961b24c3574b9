import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot, packageVersion } from '../../src/config/package.js';
import { run } from './kept-programs.js';
import { onceARun } from './once-a-run.js';

const isNode20 = process.versions.node.startsWith('20.');
const place = `${process.platform}-${process.arch}${isNode20 ? '-node20' : ''}`;

/** The name of the tarball that `make package` makes here, without its ending. */
export const PACKAGE_NAME = `integration-service-${packageVersion}-${place}`;

/** Makes a tarball as `make package` does, and returns its path. */
export async function newPackage(target: string): Promise<string> {
  // The bundler looks for its packages in the folders above the one that it writes.
  const folder = mkdtempSync(join(packageRoot, 'dist/package-test-'));
  try {
    await run(process.execPath, ['.ci/package.js', folder], { cwd: packageRoot });
    mkdirSync(target, { recursive: true });
    const tarball = join(target, `${PACKAGE_NAME}.tar.gz`);
    copyFileSync(join(folder, `${PACKAGE_NAME}.tar.gz`), tarball);
    return tarball;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The tarball of this run of tests. */
export async function packageOfRun(): Promise<string> {
  const folder = await onceARun('package', async (target) => {
    await newPackage(target);
  });
  return join(folder, `${PACKAGE_NAME}.tar.gz`);
}

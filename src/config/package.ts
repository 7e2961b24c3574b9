import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of package.json, for code in src/ and in dist/. */
export const packageRoot = rootAbove(import.meta.dirname);

export const packageVersion = (
  JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }
).version;

function rootAbove(dir: string): string {
  return existsSync(join(dir, 'package.json')) ? dir : rootAbove(dirname(dir));
}

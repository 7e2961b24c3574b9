import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of package.json, for code in src/ and in dist/. */
export const packageRoot = rootAbove(import.meta.dirname);

const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  version: string;
  engines: { node: string };
};

export const packageVersion = manifest.version;

/** Why this Node cannot run the package. `range` is such as `20.x` or `^22.14 || >=23.6`. */
export function unsuitableNode(
  version = process.versions.node,
  range = manifest.engines.node,
): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isSuitable = range.split(' || ').some((one) => {
    const [, isMinimum, needed = 0, neededMinor = 0] = /^(>=)?\^?(\d+)(?:\.(\d+))?/.exec(one) ?? [];
    const isLater = isMinimum !== undefined && major > Number(needed);
    return isLater || (major === Number(needed) && minor >= Number(neededMinor));
  });
  return isSuitable ? undefined : `This package needs Node ${range}; this is ${version}.`;
}

function rootAbove(dir: string): string {
  return existsSync(join(dir, 'package.json')) ? dir : rootAbove(dirname(dir));
}

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

export const MANIFEST = 'MANIFEST';

/** Every file below a folder, sorted, with forward slashes. */
export async function filesBelow(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

/** The SHA-256 of every file below a folder, by its path. */
export async function hashesBelow(dir: string): Promise<Map<string, string>> {
  const hashes = (await filesBelow(dir)).map(async (file) => {
    const hash = createHash('sha256').update(await readFile(join(dir, file)));
    return [file, hash.digest('hex')] as const;
  });
  return new Map(await Promise.all(hashes));
}

/** A line per file: SHA-256 and path. A file that is not listed is an orphan. */
export async function manifestOf(dir: string): Promise<string> {
  const files = [...(await hashesBelow(dir))].filter(([file]) => file !== MANIFEST);
  return files.map(([file, hash]) => `${hash}  ${file}\n`).join('');
}

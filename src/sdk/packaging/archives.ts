import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync, type Zippable, zipSync } from 'fflate';
import { byPath, type PackageFile, writeFiles } from './sources.js';

/** The output of `npm pack`, compressed so that equal files give equal bytes on every machine. */
export function npmArchive(files: readonly PackageFile[]): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'npm-package-'));
  // The archive has the modes of the files.
  const umask = process.umask(0o022);
  try {
    const cwd = join(folder, 'package');
    writeFiles(cwd, files);
    const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
    const name = execFileSync('npm', args, { cwd, encoding: 'utf8' }).trim();
    return gzipSync(gunzipSync(readFileSync(join(folder, name))), { level: 9, mtime: 0 });
  } finally {
    process.umask(umask);
    rmSync(folder, { recursive: true });
  }
}

/** A zip; equal files give equal bytes. */
export function zip(files: readonly PackageFile[]): Uint8Array {
  // Zip has local times, so this is the same local time everywhere; none is before 1980.
  const mtime = new Date(1985, 9, 26, 8, 15);
  const entries = [...files].sort(byPath).map(({ path, content }) => [path, content] as const);
  const options = { level: 9, mtime, os: 3, attrs: 0o100644 << 16 } as const;
  return zipSync(Object.fromEntries(entries) as Zippable, options);
}

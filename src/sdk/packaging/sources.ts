import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Where the parts of the packages are. */
export interface Sources {
  /** The handwritten parts: `typescript/`, `python/`, `go/`. */
  written: string;
  /** Clients, reads and lists of models, by language in `sdk/`, and the event types in `asyncapi/`. */
  generated: string;
  version: string;
  licence: PackageFile;
}

/** The sources of this repository. */
export function sourcesIn(root: string): Sources {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return {
    written: join(root, 'src/sdk'),
    generated: join(root, 'generated'),
    version,
    licence: textFile('LICENSE', readFileSync(join(root, 'LICENSE'), 'utf8')),
  };
}

/** A file of a package: path (with slashes) and content. */
export interface PackageFile {
  path: string;
  content: Uint8Array;
}

/** Files of tools, and files for development only. */
const LEFT_OUT = /^(\..*|__pycache__|node_modules|tests?|.*\.egg-info|.*\.pyc|.*_test\.go|dist|build)$/;

/** The files below a folder, in the same order everywhere. */
export function filesBelow(folder: string, under = ''): PackageFile[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !LEFT_OUT.test(name))
    .flatMap((entry) => {
      const from = join(folder, entry.name);
      const path = `${under}${entry.name}`;
      if (entry.isDirectory()) {
        return filesBelow(from, `${path}/`);
      }
      return [{ path, content: new Uint8Array(readFileSync(from)) }];
    })
    .sort(byPath);
}

export function writeFiles(folder: string, files: readonly PackageFile[]): void {
  for (const { path, content } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

export function textFile(path: string, text: string): PackageFile {
  return { path, content: new TextEncoder().encode(text) };
}

export function textOf({ content }: PackageFile): string {
  return new TextDecoder().decode(content);
}

/** By code units, independent of the locale. */
export function byPath(one: { path: string }, other: { path: string }): number {
  return one.path < other.path ? -1 : Number(one.path > other.path);
}

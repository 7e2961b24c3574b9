import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PackageFile, textFile } from './files.js';

/** Where the parts of the packages are. */
export interface Sources {
  /** The handwritten parts: `typescript/`, `python/`, `go/`. */
  written: string;
  /** The generated clients, one folder per language in `sdk/`, and the event types in `asyncapi/`. */
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

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zip } from './archives.js';
import { filesBelow, type Sources, textFile, textOf } from './sources.js';

/** The folders of generated files: each client is a package of its own. */
const GENERATED = { gateway: 'gateway/', 'sign-on': 'signon/', reads: '' };
/** The date of this version for the proxy protocol: the day of the release in the contract. */
const RELEASED_AT = '2026-11-23T00:00:00Z';

/** A Go module: its zip, and the files of the version for a proxy, by name in `@v/`. */
export function goModule({ written, generated, version, licence }: Sources) {
  const files = [
    ...filesBelow(join(written, 'go')),
    textFile('eventtypes.go', readFileSync(join(generated, 'asyncapi/events.go'), 'utf8')),
    ...Object.entries(GENERATED).flatMap(([folder, path]) =>
      filesBelow(join(generated, 'sdk/go', folder), path),
    ),
    licence,
  ];
  const mod = files.find(({ path }) => path === 'go.mod');
  const path = mod && /^module\s+(\S+)\s*$/m.exec(textOf(mod))?.[1];
  if (!mod || !path) {
    throw new Error('src/sdk/go has no go.mod that names its module.');
  }
  const root = `${path}@v${version}`;
  const archive = zip(files.map((file) => ({ ...file, path: `${root}/${file.path}` })));
  const info = `${JSON.stringify({ Version: `v${version}`, Time: RELEASED_AT })}\n`;
  return {
    path,
    zip: archive,
    proxy: [
      textFile('list', `v${version}\n`),
      textFile(`v${version}.info`, info),
      { path: `v${version}.mod`, content: mod.content },
      { path: `v${version}.zip`, content: archive },
    ],
  };
}

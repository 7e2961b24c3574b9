import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { compiler } from '../../.ci/compile.js';
import { root } from './service-process.js';

/** Below the project, whose packages it uses. */
const BUILD = join(root, '.data/next-release');

export const NEXT_MIGRATION = '9999-next-release';
/** Of entities that only the next release knows. */
export const NEXT_ENTITY_TYPE = 'zone';

/**
 * Columns and a table of which nodes of this release know nothing, columns of tables that calls use meanwhile
 * too, and rows that only the next release writes: a key that signs nothing here, and for each client the
 * removal of an entity.
 */
const ONE_MORE = `
  '${NEXT_MIGRATION}': step(\`
    alter table instances add column nickname text;
    alter table users add column nickname text;
    alter table workers add column nickname text;
    create table nicknames (nickname text);
    insert into signing_keys (kid, algorithm, public_jwk, sealed_private_key, created_at, activates_at)
      select 'next', 'PS256', '{"kid":"next","kty":"RSA","alg":"PS256","use":"sig","n":"AQAB","e":"AQAB"}',
        id || '.next', 1, 1
      from encryption_keys where retired_at is null order by position desc limit 1;
    insert into changes
      (entity_type, entity_id, client_id, instance_id, position, version, removed, changed_at)
      select '${NEXT_ENTITY_TYPE}', 'zon' || substr(id, 4), id, instance_id, change_position(), 1, 1, 1
      from clients;
  \`),`;

const LIST_ENDS = '\n};\n';
const TYPES_END = '\n] as const;\nexport type EntityType ';

/** Inserts a text before the first of another. */
const inserted = (before: string, text: string) => (source: string) => {
  const at = source.indexOf(before);
  if (at < 0) {
    throw new Error(`The next release is built around this text, which is gone: ${before}`);
  }
  return source.slice(0, at) + text + source.slice(at);
};

const changed = (file: RegExp, change: (source: string) => string): Plugin => ({
  name: `changed ${file}`,
  setup: ({ onLoad }) =>
    onLoad({ filter: file }, ({ path }) => ({
      loader: 'ts',
      contents: change(readFileSync(path, 'utf8')),
    })),
});

/** The command of the service, built with one more migration and one more type of entities. */
export async function buildNextRelease(): Promise<string> {
  const compiling = await compiler(BUILD, [
    changed(/store[\\/]migrations[\\/]index\.ts$/, inserted(LIST_ENDS, ONE_MORE)),
    changed(/domain[\\/]directory[\\/]stores\.ts$/, inserted(TYPES_END, `\n  '${NEXT_ENTITY_TYPE}',`)),
  ]);
  await compiling.rebuild();
  await compiling.dispose();
  return join(BUILD, 'src/cli/main.js');
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { compiler } from '../../.ci/compile.js';
import { root } from './service-process.js';

/** Below the project, whose packages it uses. */
const BUILD = join(root, '.data/next-release');

export const NEXT_MIGRATION = '9999-next-release';

const LIST_ENDS = '\n};\n';
/** A column and a table of which nodes of this release know nothing. */
const ONE_MORE = `
  '${NEXT_MIGRATION}': {
    up: async (db) => {
      await db.schema.alterTable('instances').addColumn('nickname', 'text').execute();
      await db.schema.createTable('nicknames').addColumn('nickname', 'text').execute();
    },
  },`;

const oneMoreMigration: Plugin = {
  name: 'one more migration',
  setup: ({ onLoad }) =>
    onLoad({ filter: /store[\\/]migrations[\\/]index\.ts$/ }, ({ path }) => ({
      loader: 'ts',
      contents: readFileSync(path, 'utf8').replace(LIST_ENDS, `${ONE_MORE}${LIST_ENDS}`),
    })),
};

/** The command of the service, built with one more migration, as the next release may have. */
export async function buildNextRelease(): Promise<string> {
  const compiling = await compiler(BUILD, [oneMoreMigration]);
  await compiling.rebuild();
  await compiling.dispose();
  return join(BUILD, 'src/cli/main.js');
}

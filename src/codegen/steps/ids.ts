import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { BANNER, root } from '../layout.js';

interface IdSchema {
  description: string;
  pattern: string;
  'x-public-id-prefix': string;
}

/** openapi/shared/ids.yaml -> a type per kind of public id, and its prefix. */
export async function generateIds(outDir: string): Promise<void> {
  const source = await readFile(join(root, 'openapi/shared/ids.yaml'), 'utf8');
  const { components } = parse(source) as { components: { schemas: Record<string, IdSchema> } };
  const kinds = Object.entries(components.schemas);
  const types = kinds.map(
    ([name, schema]) =>
      `/** ${schema.description} */\nexport type ${name} = \`${schema['x-public-id-prefix']}_\${string}\`;\n`,
  );
  const prefixes = kinds.map(([name, schema]) => `  ${name}: '${schema['x-public-id-prefix']}',`);
  const text = [
    BANNER,
    ...types,
    `/** The prefix of each kind of public id. */\nexport const publicIdPrefixes = {\n${prefixes.join('\n')}\n} as const;\n`,
    'export type PublicIdKind = keyof typeof publicIdPrefixes;\n',
    `export interface PublicIds {\n${kinds.map(([name]) => `  ${name}: ${name};`).join('\n')}\n}\n`,
  ].join('\n');
  await writeFile(join(outDir, 'ids.ts'), text);
}

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createFileRegistry,
  type DescEnum,
  type DescExtension,
  type FileRegistry,
  fromBinary,
  getOption,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { BANNER } from '../layout.js';
import { descriptorsIn } from './proto.js';

/** The method option `allowed` -> a table of who may call each method, by its path. */
export async function generateRights(outDir: string): Promise<void> {
  const descriptors = fromBinary(FileDescriptorSetSchema, await readFile(descriptorsIn(outDir)));
  await writeFile(join(outDir, 'proto/rights.ts'), rightsTable(createFileRegistry(descriptors)));
}

function rightsTable(registry: FileRegistry): string {
  const right = registry.getEnum('integration.access.v1.Right') as DescEnum;
  const allowed = registry.getExtension('integration.access.v1.allowed') as DescExtension;
  const nameOf = (number: number) => (right.value[number]?.localName ?? '').toLowerCase();
  const rights = right.values.filter(({ number }) => number !== 0).map(({ number }) => nameOf(number));
  const services = [...registry].filter((one) => one.kind === 'service');
  const lines = services.flatMap(({ typeName, methods }) =>
    methods.map((method) => {
      const names = (getOption(method, allowed) as number[]).map(nameOf);
      return `  '/${typeName}/${method.name}': [${names.map((name) => `'${name}'`).join(', ')}],`;
    }),
  );
  return [
    BANNER,
    `/** What a token lets its holder do. */\nexport const rights = [\n${rights.map((name) => `  '${name}',`).join('\n')}\n] as const;\n`,
    'export type Right = (typeof rights)[number];\n',
    `/** Who may call each method, by its path. */\nexport const allowedRights = {\n${lines.sort().join('\n')}\n} as const satisfies Record<string, readonly Right[]>;\n`,
  ].join('\n');
}

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Document, Schema } from '../documents.js';
import { BANNER, root } from '../layout.js';

/** What the contracts have in common. */
async function sharedComponents(name: string): Promise<Document['components']> {
  const source = await readFile(join(root, 'openapi/shared', `${name}.yaml`), 'utf8');
  return (parse(source) as Document).components;
}

/** openapi/shared/ids.yaml -> a type per kind of public id, and its prefix. */
export async function generateIds(outDir: string): Promise<void> {
  const { schemas } = await sharedComponents('ids');
  const kinds = Object.entries(schemas);
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

/** The schema EmailAddress -> its rule, for the platform. */
export async function generateEmailAddress(outDir: string): Promise<void> {
  const { schemas } = await sharedComponents('directory');
  const { pattern, maxLength } = schemas.EmailAddress as Schema;
  const text = `${BANNER}
/** What the contracts accept as an e-mail address. */
export const emailAddress = {
  maxLength: ${maxLength},
  pattern: new RegExp(${JSON.stringify(pattern)}, 'u'),
} as const;
`;
  await writeFile(join(outDir, 'email-address.ts'), text);
}

const CODE_ROW = /^\|\s*`(\w+)`\s*\|\s*(\d{3})\s*\|/gm;

/** The table of codes -> their HTTP statuses. Examples -> the sentence of codes that always have the same. */
export async function generateProblems(outDir: string): Promise<void> {
  const { schemas, responses = {} } = await sharedComponents('problem');
  const rows = [...(schemas.ProblemCode?.description ?? '').matchAll(CODE_ROW)];
  const statuses = rows.map(([, code, status]) => `  ${code}: ${status},`);
  const sentences = new Map<string, Set<string>>();
  for (const { content = {} } of Object.values(responses)) {
    for (const { value } of Object.values(content).flatMap(({ examples = {} }) => Object.values(examples))) {
      const { code, message } = value as { code: string; message: string };
      sentences.set(code, (sentences.get(code) ?? new Set()).add(message));
    }
  }
  // A sentence with a number differs from case to case.
  const constant = [...sentences].filter(
    ([, [first = '', ...more]]) => more.length === 0 && !/\d/.test(first),
  );
  const lines = constant.map(([code, [message]]) => `  ${code}: ${JSON.stringify(message)},`);
  const text = `${BANNER}
/** The HTTP status of each code of the gateway. */
export const problemStatuses = {\n${statuses.join('\n')}\n} as const;

/** What the gateway says with each code, as its document shows. */
export const problemMessages = {\n${lines.join('\n')}\n} as const;\n`;
  await writeFile(join(outDir, 'problems.ts'), text);
}

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { BANNER, root } from '../layout.js';

interface Response {
  content?: Record<string, { examples: Record<string, { value: { code: string; message: string } }> }>;
}

/** The examples of problems -> the sentence of each code that always has the same one. */
export async function generateProblems(outDir: string): Promise<void> {
  const source = await readFile(join(root, 'openapi/shared/problem.yaml'), 'utf8');
  const { components } = parse(source) as { components: { responses: Record<string, Response> } };
  const sentences = new Map<string, Set<string>>();
  for (const { content = {} } of Object.values(components.responses)) {
    for (const { value } of Object.values(content).flatMap(({ examples }) => Object.values(examples))) {
      sentences.set(value.code, (sentences.get(value.code) ?? new Set()).add(value.message));
    }
  }
  // A number is that of the case.
  const constant = [...sentences].filter(
    ([, [first = '', ...more]]) => more.length === 0 && !/\d/.test(first),
  );
  const lines = constant.map(([code, [message]]) => `  ${code}: ${JSON.stringify(message)},`);
  const text = `${BANNER}
/** What the gateway says with each code, as its document shows. */
export const problemMessages = {\n${lines.join('\n')}\n} as const;\n`;
  await writeFile(join(outDir, 'problems.ts'), text);
}

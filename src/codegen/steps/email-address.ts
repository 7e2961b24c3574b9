import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { BANNER, root } from '../layout.js';

/** The schema EmailAddress -> its rule, for the platform. */
export async function generateEmailAddress(outDir: string): Promise<void> {
  const source = await readFile(join(root, 'openapi/shared/directory.yaml'), 'utf8');
  const { pattern, maxLength } = parse(source).components.schemas.EmailAddress as {
    pattern: string;
    maxLength: number;
  };
  const text = `${BANNER}
/** What the contracts accept as an e-mail address. */
export const emailAddress = {
  maxLength: ${maxLength},
  pattern: new RegExp(${JSON.stringify(pattern)}, 'u'),
} as const;
`;
  await writeFile(join(outDir, 'email-address.ts'), text);
}

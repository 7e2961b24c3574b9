import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');
export const generatedDir = join(root, 'generated');
export const releasedDir = join(root, 'openapi/released');
export const redoclyConfig = join(root, 'openapi/redocly.yaml');

/** The HTTP contracts; generated files use these names. */
export const OPENAPI_DOCUMENTS = ['gateway', 'sign-on'] as const;
export const ASYNCAPI_DOCUMENT = 'webhooks';
export const documents = [...OPENAPI_DOCUMENTS, ASYNCAPI_DOCUMENT] as const;

export type OpenapiDocument = (typeof OPENAPI_DOCUMENTS)[number];

export function sourceOf(name: (typeof documents)[number]): string {
  return join(root, 'openapi', name === ASYNCAPI_DOCUMENT ? `${name}.asyncapi.yaml` : `${name}.yaml`);
}

/** The first line of every TypeScript file generated here. */
export const BANNER = '// Made by `make generate` from the contracts. Do not edit.\n';

export const version = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string })
  .version;

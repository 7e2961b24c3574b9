import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');
export const generatedDir = join(root, 'generated');
export const releasedDir = join(root, 'openapi/released');
export const redoclyConfig = join(root, 'openapi/redocly.yaml');

/** The HTTP contracts; generated files use these names. */
export const openapiDocuments = ['gateway', 'sign-on'] as const;
export const asyncapiDocument = 'webhooks';
export const documents = [...openapiDocuments, asyncapiDocument] as const;

export type OpenapiDocument = (typeof openapiDocuments)[number];

export function sourceOf(name: (typeof documents)[number]): string {
  return join(root, 'openapi', name === asyncapiDocument ? `${name}.asyncapi.yaml` : `${name}.yaml`);
}

/** The first line of every TypeScript file generated here. */
export const BANNER = '// Made by `make generate` from the contracts. Do not edit.\n';

export const version = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string })
  .version;

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asyncapiDocument, openapiDocuments, redoclyConfig, sourceOf } from '../layout.js';
import { mustRun } from '../run-tool.js';

export function bundlePath(outDir: string, name: string): string {
  return join(outDir, name === asyncapiDocument ? 'asyncapi' : 'openapi', `${name}.json`);
}

export async function readBundle<T = Record<string, unknown>>(outDir: string, name: string): Promise<T> {
  return JSON.parse(await readFile(bundlePath(outDir, name), 'utf8')) as T;
}

/** Each contract with its shared parts as one JSON document, which the service loads and later steps read. */
export async function generateBundles(outDir: string): Promise<void> {
  for (const name of [...openapiDocuments, asyncapiDocument] as const) {
    const path = bundlePath(outDir, name);
    await mustRun('redocly', [
      'bundle',
      '--config',
      redoclyConfig,
      sourceOf(name),
      '-o',
      path,
      '--ext',
      'json',
    ]);
    const document: unknown = JSON.parse(await readFile(path, 'utf8'));
    await writeFile(path, `${JSON.stringify(document, null, 2)}\n`);
  }
}

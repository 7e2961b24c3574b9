import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Document } from '../documents.js';
import { ASYNCAPI_DOCUMENT, documents, redoclyConfig, sourceOf } from '../layout.js';
import { mustRun } from '../run-tool.js';

export function bundlePath(outDir: string, name: string): string {
  return join(outDir, name === ASYNCAPI_DOCUMENT ? 'asyncapi' : 'openapi', `${name}.json`);
}

export async function readBundle<T = Document>(outDir: string, name: string): Promise<T> {
  return JSON.parse(await readFile(bundlePath(outDir, name), 'utf8')) as T;
}

/** Each contract with its shared parts as one JSON document, which the service loads and later steps read. */
export async function generateBundles(outDir: string): Promise<void> {
  for (const name of documents) {
    const path = bundlePath(outDir, name);
    const options = ['--config', redoclyConfig, '-o', path, '--ext', 'json'];
    await mustRun('redocly', ['bundle', sourceOf(name), ...options]);
    const document: unknown = JSON.parse(await readFile(path, 'utf8'));
    await writeFile(path, `${JSON.stringify(document, null, 2)}\n`);
  }
}

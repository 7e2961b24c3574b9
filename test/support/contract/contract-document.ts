import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Document } from 'openapi-backend';
import { packageRoot } from '../../../src/config/package.js';

/** A fresh copy of a bundled document, to serve or to spoil. */
export function contractDocument(name: 'gateway' | 'sign-on'): Document {
  return JSON.parse(readFileSync(join(packageRoot, 'generated/openapi', `${name}.json`), 'utf8')) as Document;
}

/** The path of an operation with an id of the right kind in each of its places. */
export function examplePathOf(document: Document, path: string): string {
  const parameters = document.components?.parameters ?? {};
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const found = Object.values(parameters).find(
      (parameter) => 'name' in parameter && parameter.name === name,
    );
    return String((found as { example?: unknown } | undefined)?.example);
  });
}

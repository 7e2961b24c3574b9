import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Document } from 'openapi-backend';
import { packageRoot } from '../../../src/config/package.js';

/** A fresh copy of a bundled document, to serve or to spoil. */
export function contractDocument(name: 'gateway' | 'sign-on'): Document {
  return JSON.parse(readFileSync(join(packageRoot, 'generated/openapi', `${name}.json`), 'utf8')) as Document;
}

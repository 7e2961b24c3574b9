import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../config/package.js';
import { renderSite } from './site.js';
import { readSources } from './sources.js';

/** Writes the site for the edge, with one rename, so that a starting edge never finds half of it. */
const folder = join(packageRoot, 'dist/docs');
const file = join(folder, 'site.json');
mkdirSync(folder, { recursive: true });
writeFileSync(`${file}.new`, JSON.stringify(renderSite(readSources())));
renameSync(`${file}.new`, file);

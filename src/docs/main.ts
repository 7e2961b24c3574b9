import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../config/package.js';
import { renderSite } from './site.js';
import { readSources } from './sources.js';

/** Leaves the site where the edge finds it. By one rename, so that no edge that starts meanwhile finds half of it. */
const folder = join(packageRoot, 'dist/docs');
const file = join(folder, 'site.json');
mkdirSync(folder, { recursive: true });
writeFileSync(`${file}.new`, JSON.stringify(renderSite(readSources())));
renameSync(`${file}.new`, file);

import { renameSync, rmSync } from 'node:fs';
import { packers } from './packages.js';
import { sourcesIn, writeFiles } from './sources.js';

/** Writes the packages of all languages, or none if one fails. */
const [outDir = 'dist/sdk'] = process.argv.slice(2);
const sources = sourcesIn(process.cwd());
const files = Object.values(packers).flatMap((pack) => pack(sources));

const staged = `${outDir}.new`;
rmSync(staged, { recursive: true, force: true });
writeFiles(staged, files);
rmSync(outDir, { recursive: true, force: true });
renameSync(staged, outDir);

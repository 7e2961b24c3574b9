import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import openapiTS, { astToString } from 'openapi-typescript';
import { packageRoot } from '../../../src/config/package.js';
import { tool } from '../../guides/project.js';
import { kept } from '../../support/kept.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { addProgram, documents, type Peers, startPeers } from './peers.js';

const CLIENT = 'openapi-fetch@0.17.0';
const SLOW_MS = 240_000;
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

const installed = (path: string) => join(packageRoot, 'node_modules', path);

/** Strict, also with the types of the library. */
const COMPILER_OPTIONS = {
  target: 'es2022',
  module: 'nodenext',
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  types: ['node'],
  typeRoots: [installed('@types')],
};

function withClient(): Promise<string> {
  return kept('guides/openapi-fetch', CLIENT, async (folder) => {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    await tool('npm', ['install', ...QUIET, CLIENT], folder);
  });
}

describe('the types that openapi-typescript makes of the documents', () => {
  const newFolder = temporaryDirectories(afterAll);
  let folder: string;
  let peers: Peers;

  beforeAll(async () => {
    folder = newFolder();
    symlinkSync(join(await withClient(), 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    for (const [name, document] of documents) {
      const types = await openapiTS(JSON.parse(readFileSync(document, 'utf8')));
      writeFileSync(join(folder, `${name}.ts`), astToString(types));
    }
    addProgram('program.ts', folder);
    const settings = { compilerOptions: COMPILER_OPTIONS, files: ['program.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    peers = await startPeers();
  }, SLOW_MS);

  afterAll(() => peers?.stop());

  test(
    'compile strictly, and openapi-fetch reads a list and tokens with them',
    async () => {
      await tool(process.execPath, [installed('typescript/bin/tsc'), '-p', '.'], folder);
      const printed = await tool(process.execPath, ['program.js'], folder, peers.env);
      expect(printed.trim().split('\n')).toEqual(peers.lines);
    },
    SLOW_MS,
  );
});

import { readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../src/config/package.js';
import { SQLITE_PACKAGE } from '../../src/store/better-sqlite3.js';
import type { Program } from './guide-page.js';
import { found, instructions, type Project, tool, typedAfter } from './project.js';

const installed = (path: string) => join(packageRoot, 'node_modules', path);
const LIBRARY = /^(@?[^@]+)@(\d+)$/;

/** Strict. */
const COMPILER_OPTIONS = {
  target: 'es2022',
  module: 'nodenext',
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  types: ['node'],
  typeRoots: [installed('@types')],
};

/** Stands in for node:sqlite where Node is older than 22.13. */
const SQLITE_OF_NODE = `
import { createRequire } from 'node:module';
const { getBuiltinModule: own } = process;
process.getBuiltinModule = (name) =>
  name === 'node:sqlite'
    ? { DatabaseSync: createRequire(${JSON.stringify(join(packageRoot, 'package.json'))})(${JSON.stringify(SQLITE_PACKAGE)}) }
    : own(name);
`;

export class TypeScriptProject implements Project {
  readonly language = 'ts';
  readonly label = 'TypeScript';
  readonly env: Record<string, string> = {};

  constructor(readonly folder: string) {}

  /** Dependencies, libraries and a TypeScript runner come from here, so no network is needed. */
  async install(startPage: string, pages: readonly string[]): Promise<void> {
    const address = found(instructions(startPage, 'TypeScript'), /npm install (http\S+\.tgz)/);
    writeFileSync(join(this.folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    if (!isBuiltin('node:sqlite')) {
      const standIn = join(this.folder, 'sqlite-of-node.mjs');
      writeFileSync(standIn, SQLITE_OF_NODE);
      this.env.NODE_OPTIONS = `--import ${pathToFileURL(standIn).href}`;
    }
    // Without this, the `prepare` of a library runs its compiler over this project for a minute.
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=0'];
    const alone = ['--registry=http://127.0.0.1:9', `--cache=${join(this.folder, '.npm')}`];
    const libraries = typedAfter('npm install', pages, this.label).filter((typed) => LIBRARY.test(typed));
    const needed = withDependencies(['jose', ...libraries.map(libraryHere)]).map(installed);
    await tool('npm', ['install', '--install-links', ...quiet, ...alone, address, ...needed], this.folder);
  }

  async command(_: string, { file, code }: Program) {
    writeFileSync(join(this.folder, file), code);
    const test = /\.test\./.test(file) ? ['--test', '--test-reporter=tap'] : [];
    const loader = pathToFileURL(installed('tsx/dist/loader.mjs')).href;
    const args = ['--import', loader, ...test, file];
    return { executable: process.execPath, args, cwd: this.folder, env: this.env };
  }

  /** What the compiler says of the programs; it throws where it says anything. */
  async check(programs: readonly (readonly [slug: string, program: Program])[]): Promise<void> {
    for (const [, { file, code }] of programs) {
      writeFileSync(join(this.folder, file), code);
    }
    const settings = { compilerOptions: COMPILER_OPTIONS, files: programs.map(([, { file }]) => file) };
    writeFileSync(join(this.folder, 'tsconfig.json'), JSON.stringify(settings));
    await tool(process.execPath, [installed('typescript/bin/tsc'), '-p', '.'], this.folder);
  }
}

const manifestOf = (name: string) =>
  JSON.parse(readFileSync(join(installed(name), 'package.json'), 'utf8')) as {
    version: string;
    dependencies?: Record<string, string>;
  };

/** The name of one that is here in the version that the page wants. */
function libraryHere(typed: string): string {
  const [, name = '', major] = LIBRARY.exec(typed) ?? [];
  const { version } = manifestOf(name);
  if (version.split('.')[0] !== major) {
    throw new Error(`The page says ${typed}; the tests have ${name} ${version}.`);
  }
  return name;
}

function withDependencies(names: readonly string[]): string[] {
  const all = new Set(names);
  for (const name of all) {
    for (const dependency of Object.keys(manifestOf(name).dependencies ?? {})) {
      all.add(dependency);
    }
  }
  return [...all];
}

import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { onceARun } from '../../support/once-a-run.js';
import { newTemporaryDirectory } from '../../support/temporary-directory.js';

const root = join(import.meta.dirname, '../../..');
const projectFolder = join(import.meta.dirname, 'project');
const run = promisify(execFile);

/** Settings of a consumer who takes types seriously: those of packages are checked too. */
const STRICTEST = {
  target: 'es2022',
  strict: true,
  noEmit: true,
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
};

/** The file that `make build` made of the SDK. */
export function builtPackage(): string {
  const folder = join(root, 'dist/sdk');
  const name = existsSync(folder) && readdirSync(folder).find((file) => file.endsWith('.tgz'));
  if (!name) {
    throw new Error('There is no package in dist/sdk/: run `make build` first.');
  }
  return join(folder, name);
}

/** A project with the built package and jose, which comes from here, so no network is needed. */
export class Project {
  private constructor(readonly folder: string) {}

  /** A new one; npm installs only the first of a run, and the others are copies. */
  static async install(): Promise<Project> {
    const installed = await onceARun('typescript-sdk', async (folder) => {
      writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
      const jose = join(root, 'node_modules/jose');
      const quiet = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
      await run('npm', ['install', ...quiet, '--install-links', builtPackage(), jose], { cwd: folder });
    });
    const folder = newTemporaryDirectory();
    cpSync(installed, folder, { recursive: true });
    return new Project(folder);
  }

  installed(path: string): string {
    return readFileSync(join(this.folder, 'node_modules/@integration-service/sdk', path), 'utf8');
  }

  /** One of our programs, as JavaScript; its path. */
  program(name: string): string {
    return this.javascript(name, readFileSync(join(projectFolder, `${name}.ts`), 'utf8'));
  }

  javascript(name: string, code: string): string {
    const path = join(this.folder, `${name}.js`);
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
    writeFileSync(path, ts.transpileModule(code, { compilerOptions }).outputText);
    return path;
  }

  /** What a program prints. */
  async run(path: string, env: Record<string, string> = {}): Promise<string> {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const own = { PATH, NODE_COMPILE_CACHE, ...env };
    const { stdout } = await run(process.execPath, [path], { cwd: this.folder, env: own });
    return stdout;
  }

  /** The compiler's errors in one of our programs. */
  complaints(name: string, compilerOptions: Record<string, unknown>): Promise<string> {
    const code = readFileSync(join(projectFolder, `${name}.ts`), 'utf8');
    return this.complaintsAbout({ [name]: code }, compilerOptions);
  }

  /** The compiler's errors in these programs, by name. */
  async complaintsAbout(
    programs: Readonly<Record<string, string>>,
    compilerOptions: Record<string, unknown>,
  ): Promise<string> {
    const names = Object.keys(programs);
    for (const name of names) {
      writeFileSync(join(this.folder, `${name}.ts`), programs[name] ?? '');
    }
    const settings = { ...STRICTEST, typeRoots: [join(root, 'node_modules/@types')], ...compilerOptions };
    const file = join(this.folder, `tsconfig.${names[0]}.${compilerOptions.module}.json`);
    writeFileSync(
      file,
      JSON.stringify({ compilerOptions: settings, files: names.map((name) => `${name}.ts`) }),
    );
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    try {
      await run(process.execPath, [tsc, '-p', file]);
      return '';
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  }
}

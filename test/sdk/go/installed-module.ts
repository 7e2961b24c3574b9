import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { packageVersion } from '../../../src/config/package.js';
import { packers } from '../../../src/sdk/packaging/packages.js';
import { sourcesIn } from '../../../src/sdk/packaging/sources.js';
import { GO_BUILDS } from '../../support/go-builds.js';
import { onceARun } from '../../support/once-a-run.js';
import { newTemporaryDirectory } from '../../support/temporary-directory.js';

const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);
const MODULE = 'integration.example.com/sdk';
const BUILD_LIMIT_MS = 240_000;

export const projectFolder = join(import.meta.dirname, 'project');
export const writtenFolder = join(root, 'src/sdk/go');

/** An empty module with the SDK from a proxy, as by `go get`; nothing else is needed, so no network. */
export class GoProject {
  private constructor(
    private readonly go: string,
    readonly folder: string,
    /** With the proxy and what was got from it. */
    private readonly source: string,
  ) {}

  /** A new one; Go gets the SDK only for the first of a run, and the others are copies. */
  static async install(go: string): Promise<GoProject> {
    const source = await onceARun('go-sdk', async (made) => {
      for (const { path, content } of packers.go(sourcesIn(root))) {
        const file = join(made, 'packages', path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, content);
      }
      const first = new GoProject(go, join(made, 'app'), made);
      mkdirSync(first.folder);
      await first.run('mod', 'init', 'app.example.com/app');
      await first.run('mod', 'edit', '-go=1.22');
      await first.run('get', `${MODULE}@v${packageVersion}`);
    });
    const folder = newTemporaryDirectory();
    cpSync(join(source, 'app'), folder, { recursive: true });
    return new GoProject(go, folder, source);
  }

  /** Compiles our program, or one that is given in its place; its path. */
  async build(name = 'driver', code?: string): Promise<string> {
    for (const file of readdirSync(this.folder).filter((name) => name.endsWith('.go'))) {
      rmSync(join(this.folder, file));
    }
    if (code === undefined) {
      cpSync(projectFolder, this.folder, { recursive: true });
    } else {
      writeFileSync(join(this.folder, 'main.go'), code);
    }
    await this.run('build', '-o', name, '.');
    return join(this.folder, name);
  }

  /** What the tool says; it fails where the tool does. */
  async run(...args: string[]): Promise<string> {
    const { PATH = '', HOME = '' } = process.env;
    const env = {
      ...GO_BUILDS,
      PATH,
      HOME,
      GOPROXY: `file://${join(this.source, 'packages/go-proxy')}`,
      GONOSUMDB: '*',
      GOMODCACHE: join(this.source, 'modules'),
    };
    const { stdout, stderr } = await run(this.go, args, { cwd: this.folder, env, timeout: BUILD_LIMIT_MS });
    return stdout + stderr;
  }
}

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { packageVersion } from '../../../src/config/package.js';
import { packers } from '../../../src/sdk/packaging/packages.js';
import { sourcesIn } from '../../../src/sdk/packaging/sources.js';
import { GO_BUILDS } from '../../support/go-builds.js';
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
  ) {}

  static async install(go: string): Promise<GoProject> {
    const folder = newTemporaryDirectory();
    for (const { path, content } of packers.go(sourcesIn(root))) {
      const file = join(folder, 'packages', path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
    const project = new GoProject(go, join(folder, 'app'));
    mkdirSync(project.folder);
    await project.run('mod', 'init', 'app.example.com/app');
    await project.run('mod', 'edit', '-go=1.22');
    await project.run('get', `${MODULE}@v${packageVersion}`);
    return project;
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
      GOPROXY: `file://${join(this.folder, '../packages/go-proxy')}`,
      GONOSUMDB: '*',
      GOMODCACHE: join(this.folder, '../modules'),
    };
    const { stdout, stderr } = await run(this.go, args, { cwd: this.folder, env, timeout: BUILD_LIMIT_MS });
    return stdout + stderr;
  }

  remove(): void {
    rmSync(dirname(this.folder), { recursive: true, force: true });
  }
}

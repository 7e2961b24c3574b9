import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from './guide-page.js';
import { found, instructions, type Project, tool } from './project.js';

/** One module, with a folder for each page. */
export class GoProject implements Project {
  readonly language = 'go';
  readonly #env: Record<string, string>;

  constructor(
    private readonly go: string,
    readonly folder: string,
  ) {
    const modules = join(folder, '.modules');
    this.#env = { GOMODCACHE: modules, GOFLAGS: '-modcacherw -p=2', GOTOOLCHAIN: 'local' };
  }

  async install(startPage: string): Promise<void> {
    const typed = instructions(startPage, 'Go');
    for (const [, name = '', value = ''] of typed.matchAll(/^export (\w+)=(\S+)$/gm)) {
      this.#env[name] = value;
    }
    await this.#run('mod', 'init', found(typed, /go mod init (\S+)/));
    await this.#run('get', found(typed, /go get (\S+)/));
  }

  async command(slug: string, { file, code }: Program) {
    const folder = join(this.folder, slug);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, file), code);
    await this.#run('vet', `./${slug}`);
    const executable = join(folder, 'program');
    const build = file.endsWith('_test.go') ? ['test', '-c'] : ['build'];
    await this.#run(...build, '-o', executable, `./${slug}`);
    return { executable, args: [], cwd: this.folder, env: {} };
  }

  #run(...args: string[]): Promise<void> {
    return tool(this.go, args, this.folder, this.#env);
  }
}

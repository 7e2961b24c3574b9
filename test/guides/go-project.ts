import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { GO_BUILDS } from '../support/go-builds.js';
import { kept } from '../support/kept.js';
import type { Program } from './guide-page.js';
import { found, instructions, type Project, tool, typedAfter } from './project.js';

/** One module, with a folder for each program. Libraries other than the SDK come from a module cache. */
export class GoProject implements Project {
  readonly language = 'go';
  readonly label = 'Go';
  readonly env: Record<string, string>;

  constructor(
    private readonly go: string,
    readonly folder: string,
  ) {
    this.env = { ...GO_BUILDS, GOMODCACHE: join(folder, '.modules') };
  }

  async install(startPage: string, pages: readonly string[]): Promise<void> {
    const typed = instructions(startPage, 'Go');
    for (const [, name = '', value = ''] of typed.matchAll(/^export (\w+)=(\S+)$/gm)) {
      this.env[name] = value;
    }
    await this.#run('mod', 'init', found(typed, /go mod init (\S+)/));
    await this.#run('get', found(typed, /go get (\S+)/));
    const libraries = typedAfter('go get', pages, this.label)
      .flatMap((line) => line.split(' '))
      .filter((path) => !path.startsWith('integration.example.com/'));
    await this.#offer(libraries);
    await this.#run('get', ...libraries);
    // The first build of a database takes longer than a story may.
    await this.#run('build', ...libraries.map((path) => path.replace(/@.*$/, '')));
  }

  /** The module cache has the form of a proxy and precedes the proxies that the page names. */
  async #offer(libraries: readonly string[]): Promise<void> {
    const modules = await kept('guides/go', libraries.join(' '), async (folder) => {
      const scratch = join(folder, 'scratch');
      mkdirSync(scratch);
      const env = { ...GO_BUILDS, GOMODCACHE: folder };
      await tool(this.go, ['mod', 'init', 'scratch.example.com/scratch'], scratch, env);
      await tool(this.go, ['get', ...libraries], scratch, env);
    });
    const [service = ''] = (this.env.GOPROXY ?? '').split(',');
    // They were verified against the checksum database when they were cached.
    this.env.GOPROXY = `${service},${pathToFileURL(join(modules, 'cache/download')).href}`;
    this.env.GONOSUMDB = '*';
  }

  /** What vet says of the programs; it throws where it says anything. */
  async check(programs: readonly (readonly [slug: string, program: Program])[]): Promise<void> {
    await this.#run('vet', ...programs.map(([slug, program]) => this.#written(slug, program)));
  }

  async command(slug: string, program: Program) {
    const path = this.#written(slug, program);
    const executable = join(this.folder, path, 'program');
    const build = program.file.endsWith('_test.go') ? ['test', '-c'] : ['build'];
    await this.#run(...build, '-o', executable, path);
    return { executable, args: [], cwd: this.folder, env: {} };
  }

  /** In a package of its own, whose path it answers. */
  #written(slug: string, { file, code }: Program): string {
    const path = `./${slug}/${file.replace(/\.go$/, '')}`;
    mkdirSync(join(this.folder, path), { recursive: true });
    writeFileSync(join(this.folder, path, file), code);
    return path;
  }

  async #run(...args: string[]): Promise<void> {
    await tool(this.go, args, this.folder, this.env);
  }
}

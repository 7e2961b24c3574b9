import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tool } from '../../guides/project.js';
import { kept } from '../../support/kept.js';
import { Project } from '../typescript/installed-package.js';
import type { Launch, Variant } from './behaviour.js';
import { failingStores, programOf } from './page-programs.js';

const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

/** An empty project with the SDK, and packages from the registry, which are cached. */
export async function projectWith(name: string, packages: readonly string[]): Promise<Project> {
  const folder = await kept(`guides/${name}`, packages.join(' '), async (staged) => {
    writeFileSync(join(staged, 'package.json'), '{ "private": true }\n');
    await tool('npm', ['install', ...QUIET, ...packages], staged);
  });
  const project = await Project.install();
  const here = join(project.folder, 'node_modules');
  for (const entry of readdirSync(join(folder, 'node_modules'))) {
    if (!entry.startsWith('.') && !existsSync(join(here, entry))) {
      symlinkSync(join(folder, 'node_modules', entry), join(here, entry));
    }
  }
  return project;
}

/** The programs of the page, or others in their place, in a folder of the project. */
export function write(project: Project, programs: Record<string, string>, under = '.'): void {
  for (const [file, code] of Object.entries(programs)) {
    const path = join(project.folder, under, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, code);
  }
}

/** A server of the page in a folder for each variant, run by Node. */
export class NodeServers {
  #project: Project | undefined;

  constructor(
    private readonly file: string,
    private readonly packages: readonly string[],
    private readonly readBefore: (code: string) => string,
  ) {}

  get project(): Project {
    return this.#project as Project;
  }

  async install(): Promise<void> {
    this.#project = await projectWith(this.file, this.packages);
  }

  launch(variant: Variant): Launch {
    const code = programOf(this.file);
    const store = variant === 'failing' ? failingStores['store.ts'] : programOf('store.ts');
    return this.launchCode(variant, variant === 'read before' ? this.readBefore(code) : code, store);
  }

  launchCode(name: string, code: string, store = programOf('store.ts')): Launch {
    const under = name.replaceAll(' ', '-');
    mkdirSync(join(this.project.folder, under));
    this.project.javascript(`${under}/store`, store);
    const server = this.project.javascript(`${under}/server`, code);
    return { command: [process.execPath, server], cwd: this.project.folder, ready: 'listening' };
  }

  /** What the compiler has against the program. */
  complaints(): Promise<string> {
    write(this.project, { 'store.ts': programOf('store.ts') });
    const settings = { module: 'node16', lib: ['es2022'], types: ['node'], skipLibCheck: true };
    const name = this.file.replace(/\.ts$/, '');
    return this.project.complaintsAbout({ [name]: programOf(this.file) }, settings);
  }

  remove(): void {
    rmSync(this.project.folder, { recursive: true, force: true });
  }
}

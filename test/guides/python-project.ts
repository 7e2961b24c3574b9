import { writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { pythonWithSdk } from '../sdk/python/installed-package.js';
import { kept } from '../support/kept.js';
import { fromTheList } from '../support/python-tools.js';
import type { Program } from './guide-page.js';
import { found, instructions, type Project, tool, typedAfter } from './project.js';

const MODULE_OF_A_TEST = /^(test_\w+)\.py$/;

const QUIET = ['--quiet', '--disable-pip-version-check', '--no-input'];

/** Dependencies and libraries come from cached environments; the SDK itself from the service, before them. */
export class PythonProject implements Project {
  readonly language = 'python';
  readonly label = 'Python';
  #python = '';
  #libraries = '';

  constructor(
    private readonly interpreter: string,
    readonly folder: string,
  ) {}

  async install(startPage: string, pages: readonly string[]): Promise<void> {
    this.#python = await pythonWithSdk(this.interpreter);
    this.#libraries = await this.#keptLibraries(pages);
    const address = found(instructions(startPage, 'Python'), /pip install (http\S+\.whl)/);
    await this.#pip('--no-cache-dir', '--no-deps', '--target', this.#site, address);
    const isOurs =
      'import integration_service as sdk, sys; sys.exit(not sdk.__file__.startswith(sys.argv[1]))';
    await tool(this.#python, ['-c', isOurs, this.#site], this.folder, this.env);
  }

  async command(_: string, { file, code }: Program) {
    writeFileSync(join(this.folder, file), code);
    const [, module] = MODULE_OF_A_TEST.exec(file) ?? [];
    const args = module === undefined ? [file] : ['-m', 'unittest', file];
    return { executable: this.#python, args, cwd: this.folder, env: this.env };
  }

  get #site(): string {
    return join(this.folder, 'site');
  }

  get env(): Record<string, string> {
    const PYTHONPATH = [this.#site, this.#libraries].join(delimiter);
    return { PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1', VIRTUAL_ENV: dirname(dirname(this.#python)) };
  }

  async #keptLibraries(pages: readonly string[]): Promise<string> {
    const version = await tool(this.#python, ['-c', 'import sys; print(sys.version)'], this.folder);
    const typed = typedAfter('pip install', pages, this.label).filter((line) => !line.includes('://'));
    const wanted = typed.flatMap((line) => line.replaceAll('"', '').split(' '));
    const files = await fromTheList(this.interpreter);
    return kept('guides/python', [version, ...files, ...wanted].join(' '), (folder) =>
      this.#pip('--target', folder, ...files, ...wanted),
    );
  }

  async #pip(...args: string[]): Promise<void> {
    await tool(this.#python, ['-m', 'pip', 'install', ...QUIET, ...args], this.folder);
  }
}

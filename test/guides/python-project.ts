import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pythonWithSdk } from '../sdk/python/installed-package.js';
import type { Program } from './guide-page.js';
import { found, instructions, type Project, tool } from './project.js';

const MODULE_OF_A_TEST = /^(test_\w+)\.py$/;

/** The packages that the SDK needs come from an environment that is kept; the SDK itself from the service, before it. */
export class PythonProject implements Project {
  readonly language = 'python';
  #python = '';

  constructor(
    private readonly interpreter: string,
    readonly folder: string,
  ) {}

  async install(startPage: string): Promise<void> {
    this.#python = await pythonWithSdk(this.interpreter);
    const address = found(instructions(startPage, 'Python'), /pip install (http\S+\.whl)/);
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input', '--no-cache-dir'];
    const args = ['-m', 'pip', 'install', ...quiet, '--no-deps', '--target', this.#site, address];
    await tool(this.#python, args, this.folder);
    const isOurs =
      'import integration_service as sdk, sys; sys.exit(not sdk.__file__.startswith(sys.argv[1]))';
    await tool(this.#python, ['-c', isOurs, this.#site], this.folder, this.#env);
  }

  async command(_: string, { file, code }: Program) {
    writeFileSync(join(this.folder, file), code);
    const [, module] = MODULE_OF_A_TEST.exec(file) ?? [];
    const args = module === undefined ? [file] : ['-m', 'unittest', file];
    return { executable: this.#python, args, cwd: this.folder, env: this.#env };
  }

  get #site(): string {
    return join(this.folder, 'site');
  }

  get #env(): Record<string, string> {
    return { PYTHONPATH: this.#site, PYTHONDONTWRITEBYTECODE: '1' };
  }
}

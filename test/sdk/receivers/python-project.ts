import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import { tool } from '../../guides/project.js';
import { onceARun } from '../../support/once-a-run.js';
import { pythonWithTools } from '../../support/python-tools.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { wheel } from '../python/installed-package.js';
import type { Launch, Variant } from './behaviour.js';
import { failingStores, programOf } from './page-programs.js';

const QUIET = ['--quiet', '--disable-pip-version-check', '--no-input'];
/** The types of Django are a package that is not its own. */
const MYPY = '[mypy]\nstrict = True\n[mypy-django.*]\nignore_missing_imports = True\n';

interface Server {
  /** Of the page. */
  file: string;
  /** The module of the SDK that it uses. */
  module: string;
  /** What the page leaves to the reader. */
  others?: Record<string, string>;
  readBefore(files: Record<string, string>): Record<string, string>;
  /** The arguments of `python`. */
  args(port: number): readonly string[];
  ready: string;
}

/** A program of the page in a folder for each variant, with the wheel and the real frameworks. */
export class PythonServers {
  readonly #newFolder = temporaryDirectories(afterAll);
  readonly #files: Record<string, string>;
  #python = '';
  #site = '';
  /** The checks of one run have the frameworks in common, which take longer than what is checked. */
  #mypyCache = '';

  constructor(
    private readonly interpreter: string,
    private readonly server: Server,
  ) {
    const { file, others } = server;
    this.#files = { ...others, [file]: programOf(file), 'store.py': programOf('store.py') };
  }

  async install(): Promise<void> {
    this.#python = await pythonWithTools(this.interpreter);
    const folder = await onceARun('receivers-python', async (made) => {
      const { path, content } = wheel();
      writeFileSync(join(made, path), content);
      const args = ['-m', 'pip', 'install', ...QUIET, '--no-deps', '--target', 'site', path];
      await tool(this.#python, args, made);
    });
    this.#site = join(folder, 'site');
    this.#mypyCache = join(folder, 'mypy-cache');
  }

  launch(variant: Variant, port: number): Launch {
    const store = variant === 'failing' ? failingStores['store.py'] : programOf('store.py');
    const files = { ...this.#files, 'store.py': store };
    return this.launchWith(variant === 'read before' ? this.server.readBefore(files) : files, port);
  }

  /** With these in place of files of the page, or beside them. */
  launchWith(
    files: Record<string, string>,
    port: number,
    { args, ready }: Pick<Server, 'args' | 'ready'> = this.server,
  ): Launch {
    const cwd = this.#written({ ...this.#files, ...files });
    return { command: [this.#python, ...args(port)], cwd, env: this.#env, ready };
  }

  /** What mypy says of the program, and of the module of the SDK. */
  async types(): Promise<string[]> {
    const cwd = this.#written({ ...this.#files, 'mypy.ini': MYPY });
    const said: string[] = [];
    for (const what of [[this.server.file], ['-m', this.server.module]]) {
      const run = tool(this.#python, ['-m', 'mypy', '--cache-dir', this.#mypyCache, ...what], cwd, this.#env);
      said.push(await run.catch(({ message }) => message));
    }
    return said;
  }

  get #env(): Record<string, string> {
    return { PYTHONPATH: this.#site, PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' };
  }

  #written(files: Record<string, string>): string {
    const folder = this.#newFolder();
    for (const [file, code] of Object.entries(files)) {
      writeFileSync(join(folder, file), code);
    }
    return folder;
  }
}

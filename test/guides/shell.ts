import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { packageRoot } from '../../src/config/package.js';
import { connectionIds, type WebhookEnvironment } from '../flow/webhooks/webhook-environment.js';
import { freePorts } from '../support/free-ports.js';
import { type Block, blocksOf } from './guide-page.js';
import type { Project } from './project.js';
import { RunningProgram } from './running-program.js';
import { ENDLESS, NOT_TYPED, SAYS } from './typed-blocks.js';

interface Place {
  demo: WebhookEnvironment;
  project: Project & { readonly folder: string };
  slug: string;
}

/** What `npx` would fetch comes from here, and `integration` is the one of the running service. */
const SHIMS = {
  npx: `case $1 in tsx) run=.bin/tsx;; @stoplight/prism-cli) run=.bin/prism;; *) echo "no $1 here" >&2; exit 1;; esac
shift; exec "${packageRoot}/node_modules/$run" "$@"`,
  integration: `exec "${process.execPath}" "${packageRoot}/dist/src/cli/main.js" "$@"`,
};

/** Follows a page: types its commands and saves its programs. */
export class Shell {
  readonly #left: [program: RunningProgram, afterwards: string][] = [];
  readonly #folder: string;
  #replaced: readonly (readonly [string, string])[] = [];
  #env: Record<string, string> = {};
  /** The last that was shown. */
  #secret = '';

  constructor(private readonly place: Place) {
    this.#folder = join(place.project.folder, `typed-${place.slug}`);
  }

  /** Answers how many blocks it typed; throws at the first that does not do what it should. */
  async follow(page: string): Promise<number> {
    await this.#open();
    try {
      let typed = 0;
      for (const block of blocksOf(page)) {
        typed += (await this.#take(block)) ? 1 : 0;
      }
      await Promise.all(this.#left.map(([program, afterwards]) => program.says(afterwards)));
      return typed;
    } finally {
      await Promise.all(this.#left.map(([program]) => program.stop()));
    }
  }

  async #open(): Promise<void> {
    const { demo, project } = this.place;
    const bin = join(this.#folder, '.bin');
    mkdirSync(bin, { recursive: true });
    // The folder is that of `make run` too, where people type `./integration`.
    const files = Object.entries({ ...SHIMS, '../integration': SHIMS.integration });
    for (const [name, script] of files) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(bin, name), 0o755);
    }
    const { VIRTUAL_ENV } = project.env;
    const path = [bin, ...(VIRTUAL_ENV ? [join(VIRTUAL_ENV, 'bin')] : []), process.env.PATH ?? ''];
    const ports = (await freePorts(4)).map(String) as [string, string, string, string];
    const [application, receiver, gateway, signOn] = ports;
    const { DATA_DIR = '', ENVIRONMENT = '' } = demo.service.settings;
    this.#env = { ...project.env, PATH: path.join(delimiter), DATA_DIR, ENVIRONMENT, PORT: receiver };
    this.#env.MOCK_GATEWAY_URL = `http://localhost:${gateway}`;
    this.#replaced = [
      ['/path/to/.data/demo', DATA_DIR],
      ['/path/to/copy', this.#folder],
      ['iin_…', connectionIds.harborlight],
      ['localhost:8400', `localhost:${application}`],
      ['localhost:3000', `localhost:${receiver}`],
      ['4010', gateway],
      ['4011', signOn],
    ];
    writeFileSync(join(this.#folder, '.state'), `cd '${this.#folder}'\n`);
  }

  async #take(block: Block): Promise<boolean> {
    const { project, slug } = this.place;
    const [, file] = /^file=(\S+)/.exec(block.info) ?? [];
    if (block.language === project.language && file !== undefined) {
      writeFileSync(join(this.#present(), file), block.code);
      return false;
    }
    const isOurs = block.info === '' || block.info === `label=${project.label}`;
    if (block.language !== 'sh' || !isOurs || entryOf(NOT_TYPED, slug, block)) {
      return false;
    }
    await this.#type(block);
    return true;
  }

  async #type(block: Block): Promise<void> {
    const replaced = [...this.#replaced, ['whsec_…', this.#secret] as const];
    const code = replaced.reduce((text, [from, to]) => text.replaceAll(from, to), block.code);
    const [, , ready, afterwards = ''] = entryOf(ENDLESS, this.place.slug, block) ?? [];
    const program = this.#start(code);
    if (ready !== undefined) {
      this.#left.push([program, afterwards]);
      await program.says(ready);
      return;
    }
    const output = await program.end().catch((reason) => {
      throw new Error(`${code}\n${reason}`);
    });
    const [, , expected] = entryOf(SAYS, this.place.slug, block) ?? [];
    if (expected && !expected.test(output)) {
      throw new Error(`${code}\ndoes not say ${expected}:\n${output}`);
    }
    this.#secret = /whsec_\S+(?=\s*$)/.exec(output)?.[0] ?? this.#secret;
  }

  /** One shell after the other, each with the folder and the variables that the one before had. */
  #start(code: string): RunningProgram {
    const state = join(this.#folder, '.state');
    const script = `set -e\n. '${state}'\n${code}\n{ export -p; echo "cd '$PWD'"; } > '${state}'\n`;
    return new RunningProgram({
      executable: 'bash',
      args: ['-c', script],
      cwd: this.#folder,
      env: this.#env,
    });
  }

  #present(): string {
    const state = readFileSync(join(this.#folder, '.state'), 'utf8');
    return /^cd '(.*)'\n$/m.exec(state)?.[1] ?? this.#folder;
  }
}

function entryOf<Entry extends readonly [string, string, ...unknown[]]>(
  table: readonly Entry[],
  slug: string,
  { code }: Block,
): Entry | undefined {
  return table.find(([page, begins]) => page === slug && code.startsWith(begins));
}

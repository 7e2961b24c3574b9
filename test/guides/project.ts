import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { blocksOf, type Program } from './guide-page.js';
import type { Command } from './running-program.js';

const run = promisify(execFile);
const LIMIT_MS = 240_000;

/** An empty project, as after reading the start page. */
export interface Project {
  /** As the blocks of the pages name it. */
  readonly language: string;
  /** As the tabs of what is to be typed name it. */
  readonly label: string;
  /** For what is typed in a shell there. */
  readonly env: Record<string, string>;
  /** Installs the SDK, from the address of the start page, and the libraries that pages name. */
  install(startPage: string, pages: readonly string[]): Promise<void>;
  /** How to run a program of a page. */
  command(slug: string, program: Program): Promise<Command>;
}

/** Settings by which tools reach their registries, for example through a company's proxy. */
const NETWORK_SETTINGS = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'];

/** Runs a tool; what it says, in the error too when it fails. */
export async function tool(
  executable: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<string> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const network = Object.fromEntries(
    NETWORK_SETTINGS.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  const whole = { PATH, HOME, NODE_COMPILE_CACHE, ...network, ...env };
  try {
    return (await run(executable, args, { cwd, env: whole, timeout: LIMIT_MS })).stdout;
  } catch (error) {
    const { stdout, stderr, message } = error as Error & { stdout: string; stderr: string };
    throw new Error(`${message}\n${stdout}\n${stderr}`);
  }
}

/** What the page tells people of this language to type. */
export function instructions(page: string, label: string): string {
  const block = blocksOf(page).find(({ language, info }) => language === 'sh' && info === `label=${label}`);
  if (!block) {
    throw new Error(`The page does not say what to type for ${label}.`);
  }
  return block.code;
}

/** What stands after these words in any of the blocks for this language. */
export function typedAfter(words: string, pages: readonly string[], label: string): string[] {
  return pages
    .flatMap(blocksOf)
    .filter(({ language, info }) => language === 'sh' && info === `label=${label}`)
    .flatMap(({ code }) => code.split('\n'))
    .filter((line) => line.startsWith(`${words} `))
    .map((line) => line.slice(words.length + 1));
}

export function found(text: string, pattern: RegExp): string {
  const [, value] = pattern.exec(text) ?? [];
  if (value === undefined) {
    throw new Error(`${pattern} is not in:\n${text}`);
  }
  return value;
}

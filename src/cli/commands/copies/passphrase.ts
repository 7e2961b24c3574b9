import { readFileSync, statSync } from 'node:fs';
import { OWN_TERMINAL } from '../confirm.js';
import { UsageError } from '../errors.js';

const LEAST_CHARACTERS = 15;
const OPEN_TO_OTHERS = 0o037;

/** The passphrase for a new backup, read from a file or typed twice. */
export async function newPassphrase(file: string | undefined): Promise<string> {
  const passphrase = await presentPassphrase(file);
  if ([...passphrase].length < LEAST_CHARACTERS) {
    throw new UsageError(`The passphrase must have at least ${LEAST_CHARACTERS} characters.`);
  }
  if (file === undefined && (await typed('Repeat the passphrase: ')) !== passphrase) {
    throw new UsageError('The two passphrases differ.');
  }
  return passphrase;
}

export async function presentPassphrase(file: string | undefined): Promise<string> {
  return file === undefined ? typed('Passphrase of the key: ') : firstLineOf(file);
}

function firstLineOf(file: string): string {
  try {
    if (process.platform !== 'win32' && (statSync(file).mode & OPEN_TO_OTHERS) !== 0) {
      throw new Error(`other users of this machine can read or change it. Run: chmod 600 ${file}`);
    }
    return readFileSync(file, 'utf8').split(/\r?\n/)[0] as string;
  } catch (error) {
    throw new UsageError(`The passphrase file ${file} cannot be used: ${(error as Error).message}`);
  }
}

/** Reads a line without echoing it. */
async function typed(question: string): Promise<string> {
  const { input, output } = OWN_TERMINAL;
  if (!input.isTTY || !output.isTTY) {
    throw new UsageError(
      'The command needs a passphrase, and has no terminal to ask for it. Use --passphrase-file.',
    );
  }
  const { createInterface } = await import('node:readline');
  const { Writable } = await import('node:stream');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  output.write(question);
  const lines = createInterface({ input, output: silent, terminal: true });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => reject(new UsageError('No passphrase was given.')));
    });
  } finally {
    lines.close();
    output.write('\n');
  }
}

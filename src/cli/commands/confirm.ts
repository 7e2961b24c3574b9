import { Unfinished, UsageError } from './errors.js';
import { printable } from './output/printable.js';

export interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream & { isTTY?: boolean };
}

export const OWN_TERMINAL: Terminal = { input: process.stdin, output: process.stderr };

/**
 * Asks, on stderr, before an action that cannot be undone. Without a terminal it throws at once. The question
 * may hold untrusted text.
 */
export function confirmation(
  { yes }: { yes?: boolean },
  { input, output }: Terminal = OWN_TERMINAL,
): (question: string) => Promise<void> {
  if (yes) {
    return async () => undefined;
  }
  if (!input.isTTY || !output.isTTY) {
    throw new UsageError('This cannot be undone, and there is no terminal to ask on. Confirm it with --yes.');
  }
  return async (question) => {
    const { createInterface } = await import('node:readline');
    const lines = createInterface({ input, output });
    const answer = await new Promise<string>((resolve) => {
      lines.once('close', () => resolve(''));
      lines.question(`${printable(question)} [y/N] `, resolve);
    });
    lines.close();
    if (!/^y(es)?$/i.test(answer.trim())) {
      throw new Unfinished('Nothing was changed.');
    }
  };
}

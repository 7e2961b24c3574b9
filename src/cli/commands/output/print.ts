import { printable } from './printable.js';

let isRefused = false;
let whenReaderLeft: (() => void) | undefined;

/** Sentences that stderr does not take end no work, except that of a command that follows something. */
process.stderr.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') {
    whenReaderLeft?.();
  }
});

/** A reader may stop early (`integration call | head`), which is not an error. */
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE' && !isRefused) {
    isRefused = true;
    say(`The output is not complete: ${message}`);
    process.exitCode = 1;
  }
  (whenReaderLeft ?? process.exit)();
});

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Runs `putAway` when the reader of stdout or stderr is gone, or a disk refuses the output. */
export function onReaderGone(putAway: () => void): void {
  whenReaderLeft = putAway;
}

/**
 * Prints progress and errors for people on stderr; stdout is for answers. The text may quote servers and the
 * database, so nothing in it commands the terminal.
 */
export function say(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

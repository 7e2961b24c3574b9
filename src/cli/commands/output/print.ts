let readerMayLeave = false;
let whenReaderLeft = () => process.exit(0);

/** Writes to stdout. A reader may stop early (`integration call | head`), which is not an error. */
export function print(text: string): void {
  if (!readerMayLeave) {
    readerMayLeave = true;
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') {
        whenReaderLeft();
      } else {
        say(`The output is not complete: ${error.message}`);
        process.exit(1);
      }
    });
  }
  process.stdout.write(`${text}\n`);
}

/** Runs `putAway` when the reader of stdout is gone. */
export function onReaderGone(putAway: () => void): void {
  whenReaderLeft = putAway as () => never;
}

/** Prints progress for people on stderr; stdout is for answers. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

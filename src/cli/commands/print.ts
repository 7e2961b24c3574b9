let readerMayLeave = false;
let whenReaderLeft = () => process.exit(0);

/** Writes to whoever asked. They may stop reading early (`integration call | head`), which is no reason to complain. */
export function print(text: string): void {
  if (!readerMayLeave) {
    readerMayLeave = true;
    process.stdout.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EPIPE' ? whenReaderLeft() : process.exit(1),
    );
  }
  process.stdout.write(`${text}\n`);
}

/** For who has something to put away before the end. */
export function onReaderGone(putAway: () => void): void {
  whenReaderLeft = putAway as () => never;
}

/** What goes on, for people; stdout is for answers. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

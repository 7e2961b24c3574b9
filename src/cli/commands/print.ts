let readerMayLeave = false;

/** Writes to whoever asked. They may stop reading early (`integration call | head`), which is no reason to complain. */
export function print(text: string): void {
  if (!readerMayLeave) {
    readerMayLeave = true;
    process.stdout.on('error', (error: NodeJS.ErrnoException) =>
      process.exit(error.code === 'EPIPE' ? 0 : 1),
    );
  }
  process.stdout.write(`${text}\n`);
}

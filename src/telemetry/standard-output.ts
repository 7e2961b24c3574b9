import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';

const STANDARD_OUTPUT = 1;
const GATHERED_MS = 5;
const PIPE_BUF = 4_096;
/** Writes to a file do not interleave at any length; longer ones cost fewer system calls. */
const FILE_BYTES = 64 * 1_024;
/** Of lines that wait for space on a disk or for a reader. Further lines are dropped. */
const MOST_WAITING_CHARACTERS = 4 * 1_024 * 1_024;
/** Doubles up to the longest: a reader that merely reads later empties a full pipe soon. */
const FIRST_AGAIN_AFTER_MS = 5;
const AGAIN_AFTER_MS = 100;
/** How long the exit waits for the reader of a full pipe that stands still, and for a slow one. */
const STILL_MS = 2_000;
const SLOW_MS = 10_000;

/**
 * Writes a line at once and gathers those of the next 5 ms: one write per line took a seventh of the time of
 * a busy edge. Roles share the output, and writes of up to PIPE_BUF bytes to a pipe do not interleave.
 *
 * A write that fails is repeated, for example until a full disk has space. The destination of pino would end
 * the process instead, and at the exit wait until the write succeeds.
 */
export class StandardOutput {
  readonly #descriptor = unblocked();
  readonly #mostBytes = fstatSync(STANDARD_OUTPUT).isFile() ? FILE_BYTES : PIPE_BUF;
  #lines: string[] = [];
  #characters = 0;
  #dropped = 0;
  /** Taken from the lines and not written yet. */
  #piece = Buffer.alloc(0);
  #state: 'idle' | 'writing' | 'waiting' | 'closed' = 'idle';
  #isGathering = false;
  #againAfterMs = FIRST_AGAIN_AFTER_MS;

  /** `onDropped` is called with the number of dropped lines, once a write succeeds again. */
  constructor(private readonly onDropped: (lines: number) => void) {
    process.once('exit', () => this.#finish());
  }

  write(line: string): void {
    if (this.#state === 'closed') {
      return;
    }
    if (this.#characters + line.length > MOST_WAITING_CHARACTERS) {
      this.#dropped += 1;
      return;
    }
    this.#lines.push(line);
    this.#characters += line.length;
    if (!this.#isGathering) {
      this.#isGathering = true;
      setTimeout(() => {
        this.#isGathering = false;
        this.#pass();
      }, GATHERED_MS).unref();
      this.#pass();
    }
  }

  #pass(): void {
    while (this.#state === 'idle' && this.#hasPiece()) {
      this.#state = 'writing';
      if (this.#descriptor === STANDARD_OUTPUT) {
        write(this.#descriptor, this.#piece, (error, bytes) => {
          this.#passed(error, bytes);
          this.#pass();
        });
      } else {
        // Does not wait. If it were under way at the exit and then refused, it could not be repeated.
        this.#passed(...writtenAtOnce(this.#descriptor, this.#piece));
      }
    }
  }

  #passed(error: NodeJS.ErrnoException | null, bytes: number): void {
    if (error) {
      // EPIPE: the reader of the pipe has left.
      this.#state = error.code === 'EPIPE' ? 'closed' : 'waiting';
      if (this.#state === 'waiting') {
        setTimeout(() => {
          this.#state = 'idle';
          this.#pass();
        }, this.#againAfterMs).unref();
        this.#againAfterMs = Math.min(this.#againAfterMs * 2, AGAIN_AFTER_MS);
      }
      return;
    }
    this.#state = 'idle';
    this.#againAfterMs = FIRST_AGAIN_AFTER_MS;
    this.#piece = this.#piece.subarray(bytes);
    if (bytes > 0 && this.#dropped > 0) {
      const dropped = this.#dropped;
      this.#dropped = 0;
      this.onDropped(dropped);
    }
  }

  /** Takes whole lines, as many as one write may have. */
  #hasPiece(): boolean {
    if (this.#piece.length === 0 && this.#lines.length > 0) {
      let bytes = 0;
      let count = 0;
      for (const line of this.#lines) {
        bytes += Buffer.byteLength(line);
        if (count > 0 && bytes > this.#mostBytes) {
          break;
        }
        count += 1;
      }
      const text = this.#lines.splice(0, count).join('');
      this.#characters -= text.length;
      this.#piece = Buffer.from(text);
    }
    return this.#piece.length > 0;
  }

  /** A write in progress ends by itself. Drops the rest if the reader refuses it, or after some time. */
  #finish(): void {
    if (this.#state === 'writing') {
      this.#piece = Buffer.alloc(0);
    }
    const endsAt = performance.now() + SLOW_MS;
    let waitsUntil = performance.now() + STILL_MS;
    while (this.#state !== 'closed' && this.#hasPiece()) {
      try {
        this.#piece = this.#piece.subarray(writeSync(this.#descriptor, this.#piece));
        waitsUntil = Math.min(endsAt, performance.now() + STILL_MS);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > waitsUntil) {
          return;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FIRST_AGAIN_AFTER_MS);
      }
    }
  }
}

function writtenAtOnce(descriptor: number, piece: Buffer): [NodeJS.ErrnoException | null, number] {
  try {
    return [null, writeSync(descriptor, piece)];
  } catch (error) {
    return [error as NodeJS.ErrnoException, 0];
  }
}

/**
 * Opens a pipe anew, so that writes of this process, and only those, do not wait for a reader that stands
 * still: a thread that waits would delay the exit. Sockets, and pipes of another user, stay as they are.
 */
function unblocked(): number {
  try {
    return fstatSync(STANDARD_OUTPUT).isFIFO()
      ? openSync(`/proc/self/fd/${STANDARD_OUTPUT}`, constants.O_WRONLY | constants.O_NONBLOCK)
      : STANDARD_OUTPUT;
  } catch {
    return STANDARD_OUTPUT;
  }
}

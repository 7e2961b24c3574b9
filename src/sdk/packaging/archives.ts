import { gzipSync, type Zippable, zipSync } from 'fflate';
import { byPath, type PackageFile } from './files.js';

const BLOCK_BYTES = 512;
const FILE_MODE = 0o644;
/** The time of every entry, which npm gives its own too: zip knows none before 1980. */
const ENTRY_TIME = { year: 1985, month: 9, day: 26, hour: 8, minute: 15 } as const;

/** Gzipped tar, the same bytes for the same files. */
export function tgz(files: readonly PackageFile[]): Uint8Array {
  const entries = [...files]
    .sort(byPath)
    .flatMap(({ path, content }) => [header(path, content.length), padded(content)]);
  const end = new Uint8Array(2 * BLOCK_BYTES);
  return gzipSync(Buffer.concat([...entries, end]), { level: 9, mtime: 0 });
}

/** Zip, the same bytes for the same files. */
export function zip(files: readonly PackageFile[]): Uint8Array {
  const { year, month, day, hour, minute } = ENTRY_TIME;
  // Zip has local times, so this one is the same number of hours past midnight wherever it is made.
  const mtime = new Date(year, month, day, hour, minute);
  const entries = [...files].sort(byPath).map(({ path, content }) => [path, content] as const);
  const options = { level: 9, mtime, os: 3, attrs: (0o100000 | FILE_MODE) << 16 } as const;
  return zipSync(Object.fromEntries(entries) as Zippable, options);
}

/** The head of a file in a tar archive (POSIX ustar). */
function header(path: string, size: number): Uint8Array {
  const { name, prefix } = splitName(path);
  const { year, month, day, hour, minute } = ENTRY_TIME;
  const time = Date.UTC(year, month, day, hour, minute) / 1000;
  const block = Buffer.alloc(BLOCK_BYTES);
  block.write(name, 0);
  block.write(octal(FILE_MODE, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(time, 12), 136);
  block.write(' '.repeat(8), 148);
  block.write('0', 156);
  block.write('ustar\u000000', 257);
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 7)} `, 148);
  return block;
}

/** A number in so many characters, the last of which is a zero byte. */
function octal(value: number, length: number): string {
  return `${value.toString(8).padStart(length - 1, '0')}\0`;
}

/** A hundred characters for the name, and 155 for the folders before it. */
function splitName(path: string): { name: string; prefix: string } {
  if (path.length <= 100) {
    return { name: path, prefix: '' };
  }
  const cut = path.indexOf('/', path.length - 101);
  if (cut === -1 || cut > 155) {
    throw new Error(`Too long for a tar archive: ${path}.`);
  }
  return { name: path.slice(cut + 1), prefix: path.slice(0, cut) };
}

function padded(content: Uint8Array): Uint8Array {
  const block = new Uint8Array(Math.ceil(content.length / BLOCK_BYTES) * BLOCK_BYTES);
  block.set(content);
  return block;
}

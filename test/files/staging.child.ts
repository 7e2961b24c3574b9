/** Writes a file, says so before the file gets its name, and waits there to be killed. */
import { writeSync } from 'node:fs';
import { writeWhole } from '../../src/files/staged.js';

const [, , path = ''] = process.argv;
writeWhole(path, 'half a secret', () => {
  writeSync(1, 'staged\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});

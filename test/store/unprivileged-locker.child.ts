/** Locks a file in a directory as a user whom the permissions of files bind, and prints the refusal. */
import { lockFile } from '../../src/store/file-lock.js';

const [, , directory = '', file = '', user] = process.argv;
// Root reaches the directory; the user may not.
process.chdir(directory);
if (user !== undefined) {
  process.setuid?.(Number(user));
}
try {
  lockFile(file, 'The keys are in use.');
  process.stdout.write('locked');
} catch (error) {
  process.stdout.write((error as Error).message);
}

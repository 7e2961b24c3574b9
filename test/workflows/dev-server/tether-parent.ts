/** A process to be killed: tethers the command that it is given, prints the command's pid, and waits. */
import { spawnTethered } from '../../../workflows/dev-server/tether.js';

const [command, ...args] = process.argv.slice(2);
if (!command) {
  throw new Error('No command given.');
}
process.stdout.write(`${spawnTethered(command, args).pid}\n`);
setInterval(() => undefined, 60_000);

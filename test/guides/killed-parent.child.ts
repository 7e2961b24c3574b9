import { RunningProgram } from './running-program.js';

const ENDLESS =
  "setInterval(() => {}, 1_000); process.stdout.write(process.ppid + ' ' + process.pid + '\\n')";

/** Starts a program that would run for ever, with a child of its own, and prints the ids of both. */
const program = new RunningProgram({
  executable: 'sh',
  args: ['-c', `"${process.execPath}" -e "${ENDLESS}"; :`],
  cwd: import.meta.dirname,
  env: {},
});
process.stdout.write(await program.printed(1));

// Runs commands of the compiled service, one after another. Its modules stay loaded: each command evaluates the entry.
import { pathToFileURL } from 'node:url';

const main = pathToFileURL(process.argv[2]).href;
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Thrown where a separate process would have ended. */
const ENDED = new Error('The command has ended.');

let commands = 0;
/** What the command has printed so far. */
let running;

/** The code that it throws through may still print and set an exit code, so the answer is sent after that. */
function end(code) {
  const ended = running;
  running = undefined;
  if (ended) {
    setImmediate(() => {
      for (const signal of STOP_SIGNALS) {
        process.removeAllListeners(signal);
      }
      process.exitCode = undefined;
      process.send({ ...ended, code });
    });
  }
}

const keeper = (name) => (text) => {
  if (running) {
    running[name] += text;
  }
  return true;
};

process.stdout.write = keeper('stdout');
process.stderr.write = keeper('stderr');
process.exit = (code = process.exitCode ?? 0) => {
  end(code);
  throw ENDED;
};
process.on('uncaughtException', (error) => {
  if (error !== ENDED) {
    process.stderr.write(`${error?.stack ?? error}\n`);
    end(1);
  }
});
process.on('message', async ({ args, env }) => {
  commands += 1;
  running = { stdout: '', stderr: '' };
  process.env = env;
  process.argv.splice(1, Number.POSITIVE_INFINITY, main, ...args);
  await import(`${main}?command=${commands}`);
  end(process.exitCode ?? 0);
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

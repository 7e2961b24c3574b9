// Runs commands of the compiled service, one after another. Its modules stay loaded: each command evaluates the entry.
import { pathToFileURL } from 'node:url';

const main = pathToFileURL(process.argv[2]).href;
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Thrown where a separate process would have ended. */
const ENDED = new Error('The command has ended.');

let commands = 0;
/** What the command has printed so far. */
let running;
/** Of the command that has ended. */
let answer;

function end(code) {
  if (running) {
    answer = { ...running, code };
    running = undefined;
  }
}

function send() {
  if (answer) {
    for (const signal of STOP_SIGNALS) {
      process.removeAllListeners(signal);
    }
    process.exitCode = undefined;
    process.send(answer);
    answer = undefined;
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
  send();
});
process.on('message', async ({ args, env }) => {
  commands += 1;
  running = { stdout: '', stderr: '' };
  process.env = env;
  process.argv.splice(1, Number.POSITIVE_INFINITY, main, ...args);
  // The entry catches what `process.exit` throws, and then prints and sets an exit code: the answer comes after that.
  await import(`${main}?command=${commands}`);
  end(process.exitCode ?? 0);
  send();
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

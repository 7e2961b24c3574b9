import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Reads which process groups run. When this process ends, so does the input, and it kills the rest. */
const WATCHER = `
running=
while read -r change group; do
  others=
  for one in $running; do [ "$one" = "$group" ] || others="$others $one"; done
  running=$others
  [ "$change" = started ] && running="$running $group"
done
for group in $running; do kill -9 "-$group"; done
`;

let input: Socket | undefined;

/** Makes the group of processes that the child leads end with this process, also when this one is killed. */
export function endsWithThisProcess(leader: ChildProcess): void {
  const { pid } = leader;
  if (pid === undefined) {
    return;
  }
  input ??= startWatcher();
  input.write(`started ${pid}\n`);
  leader.once('exit', () => input?.write(`ended ${pid}\n`));
}

/** This process does not wait for it. Detached, because Ctrl-C must not end it first. */
function startWatcher(): Socket {
  const watcher = spawn('sh', ['-c', WATCHER], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  watcher.unref();
  const socket = watcher.stdin as unknown as Socket;
  socket.unref();
  return socket;
}

import { once } from 'node:events';

export default async function endKeeper() {
  const keeper = globalThis.postgresKeeper;
  if (keeper.exitCode !== null || keeper.signalCode !== null) {
    return;
  }
  const ended = once(keeper, 'exit');
  keeper.stdin.end();
  await ended;
}

import * as sdk from '@integration-service/sdk';

/** What a test wants done: a method of a new object of a class, or a function of the package. */
interface Command {
  id: number;
  on: 'Gateway' | 'SignOn' | 'package';
  options: never;
  method: string;
  args: unknown[];
  /** So long after the start the call is ended by its signal. */
  abortAfterMs?: number;
}

process.on('message', (command: Command) => {
  run(command).then(
    (value) => process.send?.({ id: command.id, value }),
    (error: unknown) => process.send?.({ id: command.id, error: told(error) }),
  );
});
process.on('disconnect', () => process.exit());

async function run({ on, options, method, args, abortAfterMs }: Command): Promise<unknown> {
  const subject = {
    Gateway: () => new sdk.Gateway(options),
    SignOn: () => new sdk.SignOn(options),
    package: () => sdk,
  }[on]();
  const signal = abortAfterMs === undefined ? undefined : AbortSignal.timeout(abortAfterMs);
  const all = signal ? [...args, { signal }] : args;
  const result = await Reflect.apply(Reflect.get(subject, method), subject, all);
  return result instanceof sdk.Paged ? result.toArray() : result;
}

/** All that there is to see of an error. */
function told(error: unknown): unknown {
  if (!(error instanceof Error)) {
    return { name: 'nothing', value: error };
  }
  const isOurs = error instanceof sdk.IntegrationServiceError;
  return { ...error, name: error.name, message: error.message, isOurs };
}

import { ConfigError } from '../config/config.js';
import { SecretsKeyError } from '../keys/secrets-key.js';
import { mayPass, StoreError } from '../store/store-error.js';

/** Why the process cannot start, as a sentence for the operator. Never shown with a stack trace. */
export class StartupError extends Error {}

/** The cause may go away, such as an address that the machine gets only later in its boot. */
export class PassingError extends StartupError {}

/** EX_CONFIG of sysexits.h: a restart would fail the same way. */
export const EXIT_CANNOT_START = 78;
/** A service manager starts the process again. */
export const EXIT_FAILED = 1;

/** Undefined unless the error says, as a sentence for the operator, why the process cannot start. */
export function exitCodeOfStart(error: unknown): number | undefined {
  if (error instanceof PassingError) {
    return EXIT_FAILED;
  }
  if (![StartupError, ConfigError, SecretsKeyError, StoreError].some((kind) => error instanceof kind)) {
    return undefined;
  }
  // The domain waits for a store that it may open later.
  const isForNow = !(error instanceof StoreError) && mayPass((error as Error).cause);
  return isForNow ? EXIT_FAILED : EXIT_CANNOT_START;
}

const LISTEN_FAILURES: Record<string, string> = {
  EADDRINUSE: 'is taken by another process',
  EACCES: 'needs more rights',
};

/** The setting of the address that a port is opened on. */
const HOST_SETTINGS: Record<string, string> = {
  SIGN_ON_PORT: 'LISTEN_HOST',
  GATEWAY_PORT: 'LISTEN_HOST',
  GRPC_PORT: 'GRPC_HOST',
  METRICS_PORT: 'METRICS_HOST',
};

/** Turns the system's error about a port into a sentence with the setting to change. */
export function cannotListen(what: string, setting: string): (error: NodeJS.ErrnoException) => never {
  const host = HOST_SETTINGS[setting] ?? setting;
  const hostFailures: Record<string, readonly [kind: typeof StartupError, why: string]> = {
    EAI_AGAIN: [PassingError, `its name cannot be looked up now. Try again, or set ${host} to an address.`],
    ENOTFOUND: [StartupError, `its name is unknown. Set ${host} to a name or address of this machine.`],
    EADDRNOTAVAIL: [PassingError, `this machine does not have that address. Set ${host} to one that it has.`],
  };
  return (error) => {
    const { code = '', message } = error;
    const failure = hostFailures[code];
    if (failure) {
      const [Kind, why] = failure;
      throw new Kind(`${what} cannot be used: ${why}`, { cause: error });
    }
    const reason = LISTEN_FAILURES[code] ?? `cannot be used: ${message}`;
    throw new StartupError(`${what} ${reason}. Set ${setting} to another one, or stop what uses it.`, {
      cause: error,
    });
  };
}

type ErrorClass = new (message: string, options: ErrorOptions) => Error;

/** Runs `work`, and throws its error as one of this kind, with a sentence for people. */
export function explaining<T>(Kind: ErrorClass, sentence: (why: string) => string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Kind(sentence((error as Error).message), { cause: error });
  }
}

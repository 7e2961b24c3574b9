/** Why the process cannot start, as a sentence for whoever started it. Never shown with a stack trace. */
export class StartupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartupError';
  }
}

/** EX_CONFIG of sysexits.h: starting again would fail the same way, so nobody should. */
export const EXIT_CANNOT_START = 78;

const LISTEN_FAILURES: Record<string, string> = {
  EADDRINUSE: 'is taken by another process',
  EACCES: 'may not be used without more rights',
  EADDRNOTAVAIL: 'is not an address of this machine',
};

/** Turns what the system says when a port cannot be had into a sentence with the setting to change. */
export function listenError(what: string, setting: string, error: unknown): StartupError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const reason = LISTEN_FAILURES[code] ?? `cannot be used: ${message}`;
  return new StartupError(`${what} ${reason}. Set ${setting} to another one, or stop what uses it.`, {
    cause: error,
  });
}

/** Certificates are read and parsed when credentials are made; a file that cannot be used is named by its setting. */
export function withTlsFiles<T>(settings: readonly string[], makeCredentials: () => T): T {
  try {
    return makeCredentials();
  } catch (error) {
    throw new StartupError(`What ${settings.join(', ')} names cannot be used: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

export type LogFields = Record<string, unknown>;
type LogLine = (message: string, fields?: LogFields) => void;

/** The log of this folder, passed in by the process that runs it. */
export type Log = Record<'debug' | 'info' | 'warn' | 'error', LogLine>;

/** The innermost message as one line: the outer ones only say that a native call failed. */
export function reasonOf(error: unknown): string {
  let innermost = error;
  while (innermost instanceof Error && innermost.cause instanceof Error) {
    innermost = innermost.cause;
  }
  const message = innermost instanceof Error ? innermost.message : String(innermost);
  // The rest of this message, which says how long each part took, differs each time.
  return message.startsWith('4 DEADLINE_EXCEEDED') ? 'Temporal did not answer in time.' : message;
}

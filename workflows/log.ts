export type LogFields = Record<string, unknown>;
type LogLine = (message: string, fields?: LogFields) => void;

/** The log of this folder, passed in by the process that runs it. */
export type Log = Record<'debug' | 'info' | 'warn' | 'error', LogLine>;

/** By the timer of this process, whose message differs each time, or by that of the server. */
const OUT_OF_TIME = /^4 DEADLINE_EXCEEDED|^1 CANCELLED: Call cancelled$/;

/** The innermost message as one line: the outer ones only say that a native call failed. */
export function reasonOf(error: unknown): string {
  let innermost = error;
  while (innermost instanceof Error && innermost.cause instanceof Error) {
    innermost = innermost.cause;
  }
  const message = innermost instanceof Error ? innermost.message : String(innermost);
  return OUT_OF_TIME.test(message) ? 'Temporal did not answer in time.' : message;
}

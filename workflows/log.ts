export type LogFields = Record<string, unknown>;
type LogLine = (message: string, fields?: LogFields) => void;

/** The log of this folder, passed in by the process that runs it. */
export interface Log {
  debug: LogLine;
  info: LogLine;
  warn: LogLine;
  error: LogLine;
}

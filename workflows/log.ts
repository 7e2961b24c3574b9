export type LogFields = Record<string, unknown>;
type LogLine = (message: string, fields?: LogFields) => void;

/** The only way anything in this folder says something: the process that runs it passes its own. */
export interface Log {
  debug: LogLine;
  info: LogLine;
  warn: LogLine;
  error: LogLine;
}

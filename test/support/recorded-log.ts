import { createLog, type Log } from '../../src/telemetry/log.js';

export type LogLine = Record<string, unknown> & { level: string; msg: string };

export interface RecordedLog {
  log: Log;
  /** Every line so far, as it would stand in the output. */
  text(): string;
  lines(): LogLine[];
  /** The next line that fits, those written already included. */
  nextLine(fits: (line: LogLine) => boolean): Promise<LogLine>;
}

/** The real log, writing into memory. */
export function recordedLog(level = 'debug', role = 'test'): RecordedLog {
  let text = '';
  const watchers = new Set<() => void>();
  const destination = {
    write(line: string) {
      text += line;
      for (const look of [...watchers]) {
        look();
      }
    },
  };
  const lines = () =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as LogLine);
  return {
    log: createLog({ role, version: '1.2.3', level, format: 'json', destination }),
    text: () => text,
    lines,
    nextLine: (fits) =>
      new Promise((resolve) => {
        const look = () => {
          const found = lines().find(fits);
          if (found) {
            watchers.delete(look);
            resolve(found);
          }
        };
        watchers.add(look);
        look();
      }),
  };
}

import type { Log } from '../log.js';

const levels: Record<string, keyof Log> = { DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' };

/** The caller of the server gave up, for example while the server started. */
const GIVEN_UP = /context canceled$/;

/** Forwards the server's output: JSON lines from stderr, text for people from stdout. */
export function serverLog(log: Log) {
  let lastLine: string | undefined;
  let isQuiet = false;
  const pass = (level: keyof Log, message: string, fields: Record<string, unknown>) => {
    lastLine = typeof fields.error === 'string' ? `${message}: ${fields.error}` : message;
    const isOrdinary = isQuiet || GIVEN_UP.test(String(fields.error));
    log[isOrdinary ? 'debug' : level](message, { component: 'temporal-server', ...fields });
  };
  return {
    stdout: (line: string) => line.trim() && log.debug(line, { component: 'temporal-server' }),
    stderr(line: string) {
      const { level, msg, time: _, ...fields } = parse(line);
      if (msg) {
        pass(levels[level ?? ''] ?? 'warn', msg, fields);
      }
    },
    /** A stopping server reports every lost connection, which needs no warning. */
    quiet() {
      isQuiet = true;
    },
    lastLine: () => lastLine,
  };
}

function parse(line: string): { level?: string; msg?: string; [field: string]: unknown } {
  try {
    return JSON.parse(line);
  } catch {
    return { msg: line.trim() };
  }
}

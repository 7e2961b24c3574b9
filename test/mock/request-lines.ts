import type { LogTarget } from '../support/contract/prism.js';
import type { MockName } from './mock-servers.js';

interface LogLine {
  msg: string;
  level: string | number;
  input?: { method: string; url: { path: string } };
}

const RECEIVED = 'Request received';
/** Of what Prism says beside the requests, that which is about the request and not about its own work. */
const TELLING = /^(Violation|Request terminated)/;

/** Prism's log as one line a request, and one for each thing that is wrong with it. */
export function requestLines(mock: MockName, say: (line: string) => void): LogTarget {
  return {
    write: (text) => {
      const { msg, input } = JSON.parse(text) as LogLine;
      if (msg === RECEIVED && input) {
        say(`${mock.padEnd(8)} ${input.method.toUpperCase().padEnd(4)} ${input.url.path}`);
      } else if (TELLING.test(msg)) {
        say(`${' '.repeat(9)}${msg}`);
      }
    },
  };
}

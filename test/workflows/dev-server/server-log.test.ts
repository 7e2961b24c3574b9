import { expect, test } from '@jest/globals';
import { serverLog } from '../../../workflows/dev-server/start.js';
import { recordingLog } from '../temporal-fixture.js';

test.each([
  ['Unable to get namespace demo info with error: context canceled', 'debug'],
  ['no usable database connection found', 'error'],
  [undefined, 'error'],
])('an error of the server about %j is logged as %s', (error, level) => {
  const { log, lines } = recordingLog();
  serverLog(log).stderr(JSON.stringify({ level: 'ERROR', msg: 'service failures', error }));
  expect(lines.map((line) => line.level)).toEqual([level]);
});

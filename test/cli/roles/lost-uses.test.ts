import { expect, test } from '@jest/globals';
import { warnsOfLostUse } from '../../../src/cli/roles/domain-listeners.js';
import { recordedLog } from '../../support/recorded-log.js';

test('lost uses of credentials are one warning a minute', () => {
  const recorded = recordedLog();
  const warn = warnsOfLostUse(recorded.log, 'an API key');
  for (let call = 0; call < 1_000; call += 1) {
    warn(new Error('The disk is full.'));
  }
  expect(recorded.lines()).toMatchObject([
    { level: 'warn', msg: 'the last use of an API key was not recorded', reason: 'The disk is full.' },
  ]);
});

import { hostname } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import type { Log } from '../../src/telemetry/log.js';
import { recordedLog } from '../support/recorded-log.js';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

describe('a line', () => {
  test.each(LEVELS)('of %s is one JSON object with its level, time, role, message and fields', (level) => {
    const recorded = recordedLog('debug', 'edge');
    recorded.log[level]('something happened', { requestId: 'r-1', count: 3 });
    expect(recorded.text()).toMatch(/^\{[^\n]*\}\n$/);
    expect(recorded.lines()).toEqual([
      {
        ...{ host: hostname(), pid: process.pid, version: '1.2.3' },
        level,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        role: 'edge',
        requestId: 'r-1',
        count: 3,
        msg: 'something happened',
      },
    ]);
  });

  test('says which process of which host wrote it, and in which version', () => {
    const recorded = recordedLog();
    recorded.log.info('a line');
    expect(recorded.lines()).toMatchObject([{ host: hostname(), pid: process.pid, version: '1.2.3' }]);
  });

  test('stays one line whatever its fields hold', () => {
    const circle: Record<string, unknown> = { name: 'circle' };
    circle.self = circle;
    const odd = { text: 'a\nb\r\n"c"}\u2028', big: 1n, circle, none: undefined, bytes: Buffer.from('x') };
    const recorded = recordedLog();
    recorded.log.info('a line', odd);
    expect(recorded.text().trim().split('\n')).toHaveLength(1);
    expect(recorded.lines()[0]).toMatchObject({ text: odd.text, msg: 'a line' });
  });

  test('cannot be made to look like two by a field', () => {
    const recorded = recordedLog();
    recorded.log.info('a line', { name: '"}\n{"level":"fatal","msg":"forged' });
    expect(recorded.lines()).toMatchObject([{ level: 'info', msg: 'a line' }]);
  });

  test('has no credential left, wherever it stood', () => {
    const key = `ik_live_${'a1B2'.repeat(14)}`;
    const recorded = recordedLog();
    const stack = `Error: refused\n${key}\n    at x (y.js:1:1)`;
    recorded.log.error(`refused ${key}`, { key, stack, nested: { list: [key] }, [key]: 1 });
    expect(recorded.text()).not.toContain('a1B2');
    expect(recorded.lines()[0]).toMatchObject({ key: '[secret]', msg: 'refused [secret]' });
  });
});

describe('the least level', () => {
  test.each(LEVELS)('%s lets through what is as grave or graver', (least) => {
    const recorded = recordedLog(least);
    for (const level of LEVELS) {
      (recorded.log as Log)[level]('a line');
    }
    expect(recorded.lines().map(({ level }) => level)).toEqual(LEVELS.slice(LEVELS.indexOf(least)));
  });
});

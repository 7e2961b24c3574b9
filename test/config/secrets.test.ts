import { format, inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { describeConfig, loadConfig } from '../../src/config/config.js';
import { Secret } from '../../src/config/secret.js';
import { recordedLog } from '../support/recorded-log.js';

const CANARY = 'canary-7Gq2-that-is-as-long-as-a-token';
const secret = new Secret(CANARY);

describe('a secret shows as a mask', () => {
  const logged = recordedLog();
  logged.log.info('a line', { secret, nested: { list: [secret] } });

  test.each<[string, () => string]>([
    ['in a template', () => `${secret}`],
    ['joined to a text', () => `a ${String(secret)}`],
    ['in an array made a text', () => [secret, secret].join()],
    ['in JSON', () => JSON.stringify({ secret, list: [secret] })],
    ['inspected', () => inspect(secret)],
    [
      'inspected with everything hidden shown',
      () => inspect({ a: { b: [secret] } }, { showHidden: true, depth: 9 }),
    ],
    [
      'inspected without its own inspection',
      () => inspect(secret, { customInspect: false, showHidden: true }),
    ],
    ['formatted', () => format('%s %o %O %j %d', secret, secret, secret, secret, secret)],
    ['in the message of an error', () => new Error(`wrong: ${secret}`).stack ?? ''],
    ['spread', () => JSON.stringify({ ...secret })],
    ['listed', () => JSON.stringify([Object.entries(secret), Object.getOwnPropertyNames(secret)])],
    ['in the log', () => logged.text()],
  ])('%s', (_, show) => {
    expect(show()).not.toContain(CANARY);
  });

  test('as [secret], so that people see that there is one', () => {
    expect(`${secret} ${JSON.stringify(secret)} ${inspect(secret)}`).toBe('[secret] "[secret]" [secret]');
    expect(logged.lines()).toMatchObject([{ secret: '[secret]', nested: { list: ['[secret]'] } }]);
  });

  test('and has one way out', () => {
    expect(secret.reveal()).toBe(CANARY);
  });
});

describe('the secrets of the configuration', () => {
  const environment = {
    EDGE_TOKEN: `${CANARY},second-${CANARY}`,
    DATABASE_URL: `postgres://user:${CANARY}@localhost:5432/integration`,
  };
  const config = loadConfig(environment);

  test('are available through reveal()', () => {
    expect(config.EDGE_TOKEN?.map((token) => token.reveal())).toEqual([CANARY, `second-${CANARY}`]);
    expect(config.DATABASE_URL?.reveal()).toBe(environment.DATABASE_URL);
  });

  test.each<[string, () => string]>([
    ['describeConfig', () => JSON.stringify(describeConfig(config, environment))],
    ['JSON', () => JSON.stringify(config)],
    ['inspection', () => inspect(config, { showHidden: true, depth: 9 })],
    ['a copy', () => inspect({ ...config })],
  ])('%s masks them', (_, show) => {
    expect(show()).not.toContain(CANARY);
    expect(show()).toContain('[secret]');
  });
});

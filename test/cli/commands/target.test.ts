import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { targetOf } from '../../../src/cli/commands/target.js';

const ADDRESS = '127.0.0.1:4002';
const own = { ...process.env };

beforeEach(() => {
  for (const name of ['ENVIRONMENT', 'DATA_DIR', 'SECRETS_KEY_FILE']) {
    delete process.env[name];
  }
});
afterEach(() => {
  process.env = { ...own };
});

test.each([
  ['that of a live token', 'operator_live_1', undefined, 'live'],
  ['that of a demo token', 'operator_demo_1', undefined, 'demo'],
  ['that of ENVIRONMENT, if it is set', 'operator_live_1', 'demo', 'demo'],
])('the key file is %s', (_, token, given, environment) => {
  if (given !== undefined) {
    process.env.ENVIRONMENT = given;
  }
  expect(targetOf({ address: ADDRESS, token }).keyFile()).toMatch(
    new RegExp(`/\\.data/${environment}\\.keys/secrets\\.key$`),
  );
});

test.each([
  ['DATABASE_URL', 'postgres://user:secret@database:5432/app'],
  ['METRICS_HOST', '0.0.0.0'],
  ['SIGN_ON_URL', 'http://id.example.com'],
  ['TEMPORAL_ADDRESS', 'temporal:7233'],
])('a live token needs no settings that would be safe for the service: %s=%s', (name, value) => {
  process.env[name] = value;
  expect(targetOf({ address: ADDRESS, token: 'operator_live_1' }).token).toBe('operator_live_1');
});

test.each([
  ['METRICS_PORT', '4004'],
  ['GRPC_PORT', '8233'],
  ['TEMPORAL_NAMESPACE', 'live'],
])('a live token goes with what live accepts and a demo does not: %s=%s', (name, value) => {
  process.env[name] = value;
  expect(targetOf({ address: ADDRESS, token: 'operator_live_1' }).demo).toBeUndefined();
  expect(() => targetOf({ address: ADDRESS, token: 'operator_demo_1' })).toThrow(value);
});

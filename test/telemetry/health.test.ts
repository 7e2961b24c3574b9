import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Check, Health } from '../../src/telemetry/health.js';

const good = (name: string, required = true): Check => ({ name, required, probe: () => ({ ok: true }) });
const bad = (name: string, required: boolean): Check => ({
  name,
  required,
  probe: async () => ({ ok: false, detail: 'away since noon' }),
});
const failing = (thrown: unknown): Check => ({
  name: 'database',
  required: true,
  probe: () => {
    throw thrown;
  },
});

const readinessOf = (...checks: Check[]) => new Health(checks).readiness();

test('a role with nothing to check is ready', async () => {
  expect(await readinessOf()).toEqual({ status: 'ready', checks: {} });
});

test('ready is when every check is good', async () => {
  expect(await readinessOf(good('database'), good('temporal', false))).toEqual({
    status: 'ready',
    checks: { database: { ok: true }, temporal: { ok: true } },
  });
});

test('without something that is not required it is degraded, and says what', async () => {
  expect(await readinessOf(good('database'), bad('temporal', false))).toEqual({
    status: 'degraded',
    checks: { database: { ok: true }, temporal: { ok: false, detail: 'away since noon' } },
  });
});

test('without something required it is unready, whatever else is', async () => {
  const { status } = await readinessOf(bad('database', true), bad('temporal', false), good('more'));
  expect(status).toBe('unready');
});

test('each question is answered afresh', async () => {
  let ok = false;
  const health = new Health([{ name: 'database', required: true, probe: () => ({ ok }) }]);
  expect((await health.readiness()).status).toBe('unready');
  ok = true;
  expect((await health.readiness()).status).toBe('ready');
});

describe('a check that throws', () => {
  test.each([
    ['an Error', new Error('no such host'), 'no such host'],
    ['a text', 'no such host', "'no such host'"],
    ['null', null, 'null'],
    ['undefined', undefined, 'undefined'],
    ['an object without a prototype', Object.create(null), expect.any(String)],
  ])('%s is a bad one, with what it threw', async (_, thrown, detail) => {
    const expected = { status: 'unready', checks: { database: { ok: false, detail } } };
    expect(await readinessOf(failing(thrown))).toEqual(expected);
    const rejecting = { ...failing(thrown), probe: () => Promise.reject(thrown) };
    expect(await readinessOf(rejecting)).toEqual(expected);
  });
});

describe('a check that hangs', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test('is a bad one after two seconds, and holds up no other', async () => {
    const hanging: Check = { name: 'database', required: true, probe: () => new Promise(() => undefined) };
    let told: unknown;
    const asked = readinessOf(hanging, good('temporal', false)).then((readiness) => {
      told = readiness;
    });
    await jest.advanceTimersByTimeAsync(1_999);
    expect(told).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    await asked;
    expect(told).toEqual({
      status: 'unready',
      checks: { database: { ok: false, detail: 'no answer in time' }, temporal: { ok: true } },
    });
  });

  test('leaves no timer behind when it answers in time', async () => {
    await readinessOf(good('database'), failing('x'));
    expect(jest.getTimerCount()).toBe(0);
  });
});

test('a role that drains is unready permanently, though all is well with it', async () => {
  const health = new Health([good('database')]);
  health.drain();
  const drained = {
    status: 'unready',
    checks: { database: { ok: true }, shutdown: { ok: false, detail: 'draining' } },
  };
  expect(await health.readiness()).toEqual(drained);
  expect(await health.readiness()).toEqual(drained);
});

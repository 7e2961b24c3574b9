import { expect, test } from '@jest/globals';
import { sharedReading } from '../../src/telemetry/shared-reading.js';

interface Answer {
  resolve(value: number): void;
  reject(reason: Error): void;
}

/** A reading whose answers and clock the test controls. */
function rig() {
  let ms = 0;
  const asked: Answer[] = [];
  const reading = sharedReading(
    () => new Promise<number>((resolve, reject) => asked.push({ resolve, reject })),
    () => ms,
    1,
  );
  return {
    reading,
    asked,
    pass: (by: number) => {
      ms += by;
    },
  };
}

test('callers at the same time share one reading', async () => {
  const { reading, asked } = rig();
  const both = Promise.all([reading(), reading()]);
  asked[0]?.resolve(7);
  expect(await both).toEqual([7, 7]);
  expect(asked).toHaveLength(1);
});

test('one that takes too long is not waited for, and gives its value to the next caller', async () => {
  const { reading, asked } = rig();
  expect(await reading()).toBeUndefined();
  expect(await reading()).toBeUndefined();
  expect(asked).toHaveLength(1);
  const later = reading();
  asked[0]?.resolve(7);
  expect(await later).toBe(7);
  const next = reading();
  expect(asked).toHaveLength(2);
  expect(await next).toBe(7);
});

test('a value older than a minute is not used', async () => {
  const { reading, asked, pass } = rig();
  const first = reading();
  asked[0]?.resolve(7);
  await first;
  pass(59_000);
  expect(await reading()).toBe(7);
  pass(1_000);
  expect(await reading()).toBeUndefined();
});

test('one that fails gives none, and the next caller reads again', async () => {
  const { reading, asked } = rig();
  const first = reading();
  asked[0]?.reject(new Error('away'));
  expect(await first).toBeUndefined();
  const second = reading();
  asked[1]?.resolve(8);
  expect(await second).toBe(8);
});

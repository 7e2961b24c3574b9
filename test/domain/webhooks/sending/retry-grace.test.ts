import { describe, expect, test } from '@jest/globals';
import { RetryGrace } from '../../../../src/domain/webhooks/sending/retry-batches.js';

const MINUTE_MS = 60_000;

describe('the grace of a workflow', () => {
  const newGrace = () => new RetryGrace([30_000, 300_000]);

  test('is nothing where no worker asks for batches', () => {
    expect(newGrace().at(0)).toBe(0);
  });

  test('is a minute for as long as a worker asks for batches at least once a minute', () => {
    const grace = newGrace();
    grace.batchesAsked(1_000);
    expect([grace.at(1_000), grace.at(60_999), grace.at(61_000)]).toEqual([MINUTE_MS, MINUTE_MS, 0]);
  });

  test('ends when the clock is set back by more than a minute, until batches are asked for again', () => {
    const grace = newGrace();
    grace.batchesAsked(600_000);
    expect(grace.at(0)).toBe(0);
    grace.batchesAsked(0);
    expect(grace.at(1_000)).toBe(MINUTE_MS);
  });

  test('ends where batches are asked for again and again and never marked, until one is', () => {
    const grace = newGrace();
    grace.batchesAsked(0);
    grace.batchesGiven();
    grace.batchesAsked(50_000);
    expect(grace.at(MINUTE_MS)).toBe(0);
    grace.batchesMarked(70_000);
    expect(grace.at(70_000)).toBe(MINUTE_MS);
    grace.batchesAsked(120_000);
    expect(grace.at(170_000)).toBe(MINUTE_MS);
  });

  test('is twenty retry delays where these are short', () => {
    const grace = new RetryGrace([600, 1_200]);
    grace.batchesAsked(0);
    expect(grace.at(0)).toBe(24_000);
  });
});

import { describe, expect, test } from '@jest/globals';
import { RequestsUnderWay } from '../../../src/edge/gateway/requests-under-way.js';
import { ErrorCode } from '../../../src/errors/service-error.js';

const KEY = Buffer.from('one');
const OTHER = Buffer.from('other');
const rateLimit = { limit: 600, remaining: 598, resetSeconds: 60 };
const keyHolder = { integrationId: 'itg_1', apiKeyId: 'key_1' };
const tooMany = {
  code: ErrorCode.RATE_LIMITED,
  message: 'With your key 2 lists are being read at once. Please finish one first.',
  retryAfterSeconds: expect.any(Number),
  rateLimit,
  keyHolder,
};

describe('the lists that are asked for with a key', () => {
  test('are limited, and another may begin when one has ended, however often it is told', async () => {
    const lists = new RequestsUnderWay(2, 'lists are being read at once');
    const first = await lists.begin(KEY);
    await lists.begin(KEY);
    first.answered({ rateLimit, ...keyHolder });
    await expect(lists.begin(KEY)).rejects.toMatchObject(tooMany);
    await lists.begin(OTHER);
    first.end();
    first.end();
    await lists.begin(KEY);
    await expect(lists.begin(KEY)).rejects.toMatchObject(tooMany);
  });

  test('have one too many wait until the domain has said where its key stands', async () => {
    const lists = new RequestsUnderWay(2, 'lists are being read at once');
    const first = await lists.begin(KEY);
    await lists.begin(KEY);
    const third = lists.begin(KEY);
    first.answered({ rateLimit, ...keyHolder });
    await expect(third).rejects.toMatchObject(tooMany);
  });

  test('are left to the domain where it has refused one before it let any in', async () => {
    const lists = new RequestsUnderWay(2, 'lists are being read at once');
    const first = await lists.begin(KEY);
    await lists.begin(KEY);
    const third = lists.begin(KEY);
    first.end();
    await expect(third).resolves.toBeDefined();
  });

  test('are no more than the limit where several wait and one ends before the domain has told anything', async () => {
    const lists = new RequestsUnderWay(2, 'lists are being read at once');
    const first = await lists.begin(KEY);
    const second = await lists.begin(KEY);
    const waiting = [1, 2, 3].map(() => lists.begin(KEY));
    first.end();
    await expect(waiting[0]).resolves.toBeDefined();
    second.answered({ rateLimit, ...keyHolder });
    await expect(waiting[1]).rejects.toMatchObject(tooMany);
    await expect(waiting[2]).rejects.toMatchObject(tooMany);
  });

  test('take each free place in turn, and are refused where none becomes free', async () => {
    const lists = new RequestsUnderWay(1, 'lists are being read at once', 50);
    const first = await lists.begin(KEY);
    const [second, third] = [lists.begin(KEY), lists.begin(KEY)];
    first.end();
    await second;
    await expect(third).rejects.toMatchObject({ code: ErrorCode.UNAVAILABLE });
    (await second).end();
    await expect(lists.begin(KEY)).resolves.toBeDefined();
  });
});

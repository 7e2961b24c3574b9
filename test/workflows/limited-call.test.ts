import { getEventListeners } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { limitedCall } from '../../workflows/limited-call.js';
import { signalled } from '../support/signalled.js';

/** Does with the signal of a call what the client of the SDK does: it listens, for ever. */
function clientLikeTheSdk() {
  let signal: AbortSignal | undefined;
  let deadline = 0;
  return {
    seen: () => ({ signal, deadline }),
    withAbortSignal<T>(given: AbortSignal, call: () => Promise<T>) {
      signal = given;
      given.addEventListener('abort', () => undefined);
      return call();
    },
    withDeadline<T>(given: number, call: () => Promise<T>) {
      deadline = given;
      return call();
    },
  };
}

describe('a call to the server of Temporal', () => {
  test('leaves nothing on the signal that outlives it, whether it was answered or failed', async () => {
    const over = new AbortController();
    const client = clientLikeTheSdk();
    expect(await limitedCall(client, over.signal, 1_000, async () => 'an answer')).toBe('an answer');
    const failing = limitedCall(client, over.signal, 1_000, () => Promise.reject(new Error('refused')));
    await expect(failing).rejects.toThrow('refused');
    expect(getEventListeners(over.signal, 'abort')).toEqual([]);
  });

  test('has a deadline', async () => {
    const client = clientLikeTheSdk();
    const before = Date.now();
    await limitedCall(client, new AbortController().signal, 5_000, async () => undefined);
    expect(client.seen().deadline).toBeGreaterThanOrEqual(before + 5_000);
    expect(client.seen().deadline).toBeLessThanOrEqual(Date.now() + 5_000);
  });

  test('is cancelled with the reason when all is over', async () => {
    const over = new AbortController();
    const client = clientLikeTheSdk();
    const { told, tell: answer } = signalled<string>();
    const call = limitedCall(client, over.signal, 1_000, () => told);
    expect(client.seen().signal?.aborted).toBe(false);
    over.abort(new Error('the worker ends'));
    expect(client.seen().signal?.reason).toEqual(new Error('the worker ends'));
    answer('late');
    await call;
  });

  test('is not made when all has ended already', async () => {
    const client = clientLikeTheSdk();
    const call = limitedCall(client, AbortSignal.abort(new Error('ended')), 1_000, async () => 'an answer');
    await expect(call).rejects.toThrow('ended');
    expect(client.seen().signal).toBeUndefined();
  });
});

import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { LIST_LIMITS } from '../../../src/domain/access/list-slots.js';
import { closeListener, createListener, listen } from '../../../src/edge/http/listener.js';
import { STREAM_BYTES, UnsentAnswers } from '../../../src/edge/http/unsent-answers.js';
import { recordedLog } from '../../support/recorded-log.js';

class Connection extends EventEmitter {
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

class Response extends EventEmitter {
  readonly req = { socket: new Connection() };

  constructor(readonly writableLength: number) {
    super();
  }

  get cut(): boolean {
    return this.req.socket.destroyed;
  }
}

function held(unsent: UnsentAnswers, owner: string, bytes: number): Response {
  const response = new Response(bytes);
  unsent.addWhole(response as unknown as ServerResponse, owner);
  return response;
}

/** Whether no other answer counts: one that fills all the room is not cut. */
function isEmpty(unsent: UnsentAnswers): boolean {
  const response = held(unsent, 'of the test', 100);
  const { cut } = response;
  response.req.socket.destroy();
  return !cut;
}

describe('answers that were not taken yet', () => {
  test('are counted until they are', () => {
    const unsent = new UnsentAnswers(100);
    const response = held(unsent, 'one', 60);
    expect(isEmpty(unsent)).toBe(false);
    response.emit('finish');
    expect(isEmpty(unsent)).toBe(true);
  });

  test('do not count where their connection is closed, before or after', () => {
    const unsent = new UnsentAnswers(100);
    const late = new Response(60);
    late.req.socket.destroy();
    unsent.addWhole(late as unknown as ServerResponse, 'one');
    expect(isEmpty(unsent)).toBe(true);
    const response = held(unsent, 'one', 60);
    response.req.socket.destroy();
    expect(isEmpty(unsent)).toBe(true);
  });

  test('that grow count with their last size', () => {
    const unsent = new UnsentAnswers(100);
    const response = new Response(0);
    for (const bytes of [30, 60, 90]) {
      unsent.add(response as unknown as ServerResponse, 'one', bytes);
    }
    expect([response.cut, response.listenerCount('finish')]).toEqual([false, 1]);
    response.emit('finish');
    expect(isEmpty(unsent)).toBe(true);
    expect(response.eventNames()).toEqual([]);
  });

  test('of one owner leave a quarter of the room for the message that each may still add', () => {
    const unsent = new UnsentAnswers(80 * STREAM_BYTES);
    const add = (bytes: number, response = new Response(0)) => {
      unsent.add(response as unknown as ServerResponse, 'one', bytes);
      return { response, hasRoom: unsent.hasRoomFor('one') };
    };
    const growing = Array.from({ length: 60 }, () => add(STREAM_BYTES));
    expect(growing.map(({ hasRoom }) => hasRoom)).toEqual(Array(60).fill(true));
    const grown = growing.map(({ response }) => add(1.25 * STREAM_BYTES, response));
    expect(grown.map(({ hasRoom, response }) => [hasRoom, response.cut])).toEqual(
      Array(60).fill([false, false]),
    );
  });

  test('of an owner leave room for those of others who hold less than half of them', () => {
    const roomAfter = (...answers: [owner: string, bytes: number][]) => {
      const unsent = new UnsentAnswers(100);
      return answers.map(([owner, bytes]) => {
        unsent.add(new Response(0) as unknown as ServerResponse, owner, bytes);
        return unsent.hasRoomFor(owner);
      });
    };
    expect(roomAfter(['one', 75], ['one', 1], ['two', 10], ['two', 10])).toEqual([true, false, true, true]);
    expect(roomAfter(['one', 40], ['two', 40], ['one', 1])).toEqual([true, false, false]);
  });

  test('do not count where the system has taken them', () => {
    const unsent = new UnsentAnswers(100);
    const response = held(unsent, 'one', 0);
    expect(isEmpty(unsent)).toBe(true);
    expect(response.eventNames()).toEqual([]);
  });

  test('have room where as many lists are streamed as a domain has', () => {
    const unsent = new UnsentAnswers();
    const lists = Array.from({ length: LIST_LIMITS.inTotal }, () => held(unsent, 'one', STREAM_BYTES));
    expect(lists.filter(({ cut }) => cut)).toEqual([]);
    held(unsent, 'another', 1);
    expect(lists.filter(({ cut }) => cut)).toHaveLength(1);
  });

  test('beyond the total go where most lie, the oldest first', () => {
    const unsent = new UnsentAnswers(100);
    const modest = held(unsent, 'modest', 30);
    const greedy = [held(unsent, 'greedy', 30), held(unsent, 'greedy', 30)];
    const late = held(unsent, 'late', 30);
    expect([modest, ...greedy, late].map(({ cut }) => cut)).toEqual([false, true, false, false]);
    for (const response of [modest, ...greedy, late]) {
      response.req.socket.destroy();
    }
    expect(isEmpty(unsent)).toBe(true);
  });

  test('that are larger than all may hold are cut', () => {
    const unsent = new UnsentAnswers(100);
    expect(held(unsent, 'one', 101).cut).toBe(true);
    expect(isEmpty(unsent)).toBe(true);
  });
});

test('answers without a key count together for all addresses of a network', async () => {
  // Each more than the system takes from the service; together nearly all that may lie unsent.
  const strangersAnswer = Buffer.alloc(7 * 1_024 * 1_024);
  const longAnswer = Buffer.alloc(16 * 1_024 * 1_024);
  const server = createListener({
    api: 'test',
    dispatch: async ({ path }) => ({
      ...{ status: 200, headers: {}, operation: 'op' },
      ...(path === '/list'
        ? { body: longAnswer, facts: { integrationId: 'int_1' } }
        : { body: strangersAnswer }),
    }),
    trustedProxies: [{ address: '127.0.0.1', prefix: 32 }],
    log: recordedLog().log,
    timer: () => undefined,
  });
  await listen(server, 0, '127.0.0.1');
  const { port } = server.address() as AddressInfo;
  const strangers = Array.from({ length: 33 }, (_, index) => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(`GET / HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 2001:db8::${index}\r\n\r\n`);
    return socket;
  });
  try {
    await Promise.all(strangers.map((stranger) => once(stranger, 'readable')));
    const answer = await fetch(`http://127.0.0.1:${port}/list`);
    expect((await answer.arrayBuffer()).byteLength).toBe(longAnswer.byteLength);
  } finally {
    for (const stranger of strangers) {
      stranger.destroy();
    }
    await closeListener(server, 0);
  }
});

describe('an answer that its reader does not take', () => {
  const MINUTE_MS = 60_000;
  const MEBIBYTE = 1_024 * 1_024;
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test('is not waited for once its connection is closed', () => {
    const response = held(new UnsentAnswers(), 'one', 100);
    expect(jest.getTimerCount()).toBe(1);
    response.req.socket.destroy();
    expect(jest.getTimerCount()).toBe(0);
  });

  test('is cut later where it is larger, and after ten minutes at most', () => {
    const unsent = new UnsentAnswers();
    const answers = [100, MEBIBYTE, 8 * MEBIBYTE].map((bytes) => held(unsent, 'one', bytes));
    const cut = () => answers.map((response) => response.cut);
    jest.advanceTimersByTime(MINUTE_MS);
    expect(cut()).toEqual([true, false, false]);
    jest.advanceTimersByTime(9 * MINUTE_MS);
    expect(cut()).toEqual([true, true, true]);
  });
});

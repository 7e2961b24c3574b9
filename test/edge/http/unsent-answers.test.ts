import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { UnsentAnswers } from '../../../src/edge/http/unsent-answers.js';

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

describe('answers that were not taken yet', () => {
  test('are counted until they are', () => {
    const unsent = new UnsentAnswers(100);
    const response = held(unsent, 'one', 60);
    expect(unsent.bytes).toBe(60);
    response.emit('finish');
    expect(unsent.bytes).toBe(0);
  });

  test('do not count where their connection is closed, before or after', () => {
    const unsent = new UnsentAnswers(100);
    const late = new Response(60);
    late.req.socket.destroy();
    unsent.addWhole(late as unknown as ServerResponse, 'one');
    expect(unsent.bytes).toBe(0);
    const response = held(unsent, 'one', 60);
    response.req.socket.destroy();
    expect(unsent.bytes).toBe(0);
  });

  test('do not count where the system has taken them', () => {
    const unsent = new UnsentAnswers(100);
    const response = held(unsent, 'one', 0);
    expect(unsent.bytes).toBe(0);
    expect(response.eventNames()).toEqual([]);
  });

  test('beyond the total go where most lie, the oldest first', () => {
    const unsent = new UnsentAnswers(100);
    const modest = held(unsent, 'modest', 30);
    const greedy = [held(unsent, 'greedy', 30), held(unsent, 'greedy', 30)];
    const late = held(unsent, 'late', 30);
    expect([modest, ...greedy, late].map(({ cut }) => cut)).toEqual([false, true, false, false]);
    expect(unsent.bytes).toBe(90);
    for (const response of [modest, ...greedy, late]) {
      response.req.socket.destroy();
    }
    expect(unsent.bytes).toBe(0);
  });

  test('that are larger than all may hold are cut', () => {
    const unsent = new UnsentAnswers(100);
    expect(held(unsent, 'one', 101).cut).toBe(true);
    expect(unsent.bytes).toBe(0);
  });
});

import { describe, expect, test } from '@jest/globals';
import { pipelined } from '../../../../src/rpc/domain-server/platform/pipeline.js';

async function* of(...inputs: number[]) {
  yield* inputs;
}

/** Works that end when the test says so. */
function workshop() {
  const ends = new Map<number, { resolve(value: string): void; reject(error: Error): void }>();
  const work = (input: number) =>
    new Promise<string>((resolve, reject) => {
      ends.set(input, { resolve, reject });
    });
  return { ends, work, begun: () => [...ends.keys()] };
}

const turn = () => new Promise(setImmediate);

describe('a pipeline', () => {
  test('begins no more than its limit, in order, and gives outcomes in order', async () => {
    const { ends, work, begun } = workshop();
    const outputs = pipelined(of(1, 2, 3, 4), 3, work);
    const first = outputs.next();
    await turn();
    expect(begun()).toEqual([1, 2, 3]);
    ends.get(2)?.resolve('two');
    await turn();
    expect(begun()).toEqual([1, 2, 3]);
    ends.get(1)?.resolve('one');
    await expect(first).resolves.toEqual({ done: false, value: ['one', 'two'] });
    const second = outputs.next();
    await turn();
    expect(begun()).toEqual([1, 2, 3, 4]);
    ends.get(4)?.resolve('four');
    ends.get(3)?.resolve('three');
    await expect(second).resolves.toEqual({ done: false, value: ['three', 'four'] });
    await expect(outputs.next()).resolves.toEqual({ done: true, value: undefined });
  });

  test('gives what came before a failure and what was under way, begins nothing more, then fails', async () => {
    const { ends, work, begun } = workshop();
    const outputs = pipelined(of(1, 2, 3, 4, 5), 4, work);
    const first = outputs.next();
    await turn();
    ends.get(2)?.reject(new Error('two'));
    ends.get(3)?.reject(new Error('three'));
    await turn();
    ends.get(1)?.resolve('one');
    await expect(first).resolves.toEqual({ done: false, value: ['one'] });
    const rest = outputs.next();
    await turn();
    ends.get(4)?.resolve('four');
    await expect(rest).resolves.toEqual({ done: false, value: ['four'] });
    expect(begun()).toEqual([1, 2, 3, 4]);
    await expect(outputs.next()).rejects.toThrow('two');
  });

  test('gives what was begun before the inputs failed, then their failure', async () => {
    const { ends, work } = workshop();
    const inputs = (async function* () {
      yield 1;
      throw new Error('unreadable');
    })();
    const outputs = pipelined(inputs, 3, work);
    const first = outputs.next();
    await turn();
    ends.get(1)?.resolve('one');
    await expect(first).resolves.toEqual({ done: false, value: ['one'] });
    await expect(outputs.next()).rejects.toThrow('unreadable');
  });

  test('gives outcomes while it waits for an input', async () => {
    const inputs = (async function* () {
      yield 1;
      await new Promise(() => undefined);
    })();
    await expect(pipelined(inputs, 3, async () => 'one').next()).resolves.toEqual({
      done: false,
      value: ['one'],
    });
  });
});

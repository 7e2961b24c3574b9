import { describe, expect, test } from '@jest/globals';
import { messagesUntil } from '../../src/rpc/streams/messages-until.js';

/** Brings what is given and then nothing, for as long as one likes. */
async function* bringing(...messages: string[]): AsyncIterable<string> {
  yield* messages;
  await new Promise(() => undefined);
}

async function* failing(): AsyncIterable<string> {
  yield 'a';
  throw new Error('the caller has gone');
}

async function read(messages: AsyncIterable<string>, onMessage: (message: string) => void = () => undefined) {
  const all: string[] = [];
  for await (const message of messages) {
    all.push(message);
    onMessage(message);
  }
  return all;
}

describe('messages until a call ends', () => {
  const never = new AbortController().signal;

  test('are all that come', async () => {
    const three = (async function* () {
      yield* ['a', 'b', 'c'];
    })();
    expect(await read(messagesUntil(never, three))).toEqual(['a', 'b', 'c']);
  });

  test('end while the next one is waited for', async () => {
    const over = new AbortController();
    const reading = read(messagesUntil(over.signal, bringing('a', 'b')), (message) => {
      if (message === 'b') {
        setImmediate(() => over.abort());
      }
    });
    expect(await reading).toEqual(['a', 'b']);
  });

  test('end after the one that is being answered, though others are there', async () => {
    const over = new AbortController();
    expect(await read(messagesUntil(over.signal, bringing('a', 'b')), () => over.abort())).toEqual(['a']);
  });

  test('are none where it has ended already', async () => {
    expect(await read(messagesUntil(AbortSignal.abort(), bringing('a')))).toEqual([]);
  });

  test('fail as the call does', async () => {
    await expect(read(messagesUntil(never, failing()))).rejects.toThrow('the caller has gone');
  });
});

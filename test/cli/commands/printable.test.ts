import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Receiver } from '../../../src/cli/commands/listen/listen-receiver.js';
import { asJson, asJsonLine, printable, printableLine } from '../../../src/cli/commands/output/printable.js';
import { BODY, post, SECRET, signed } from './listen/rig.js';

/** What moves cursors, changes colours, turns the direction of writing or breaks lines. */
const COMMANDS = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
const anything = fc.string({
  unit: fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), commands()),
});

function commands() {
  const ranges = [
    0, 0x1f, 0x7f, 0x80, 0x9b, 0x9f, 0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069,
  ];
  return fc.constantFrom(...ranges.map((code) => String.fromCharCode(code)));
}

describe('text of others', () => {
  test('commands no terminal as text', () => {
    fc.assert(
      fc.property(anything, (text) => {
        expect(printable(text)).not.toMatch(COMMANDS);
        expect(printableLine(text)).not.toMatch(COMMANDS);
      }),
    );
  });

  test('as JSON has no control characters for a terminal, and parses to the same text', () => {
    fc.assert(
      fc.property(anything, anything, (name, text) => {
        const value = { name, texts: [text], of: { [`_${name}`]: text } };
        for (const json of [asJson(value), asJsonLine(value)]) {
          expect(json).not.toMatch(COMMANDS);
          expect(JSON.parse(json)).toEqual(value);
        }
      }),
    );
  });
});

test('a listener remembers the latest events only, however many come', async () => {
  const again: [string, boolean][] = [];
  const receiver = await Receiver.start(
    {
      secret: Promise.resolve(SECRET),
      forwarder: undefined,
      onReceipt: (receipt) => again.push([receipt.id, receipt.again]),
    },
    2,
  );
  try {
    for (const id of ['evt_1', 'evt_2', 'evt_2', 'evt_3', 'evt_1', 'evt_3']) {
      await post(receiver.url, signed(BODY, { id }));
    }
  } finally {
    await receiver.close();
  }
  expect(again).toEqual([
    ['evt_1', false],
    ['evt_2', false],
    ['evt_2', true],
    ['evt_3', false],
    ['evt_1', false],
    ['evt_3', true],
  ]);
});

import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CallServiceService, ExchangeResponse } from '../../generated/proto/integration/calls/v1/calls.js';
import { DirectoryServiceService } from '../../generated/proto/integration/directory/v1/directory.js';
import { ErrorDetail } from '../../generated/proto/integration/errors/v1/errors.js';
import { encoded } from '../../src/rpc/bytes.js';

const { exchange } = CallServiceService;
const { readRest } = DirectoryServiceService;
const detail = (message: string) => ({ ...ErrorDetail.decode(new Uint8Array()), message });
const ownBytesOf = (message: string) => ErrorDetail.encode(detail(message), new BinaryWriter()).finish();
const messageOf = (bytes: Buffer) => ErrorDetail.decode(bytes).message;

describe('a message in bytes', () => {
  test('stays as it is when others are encoded after it', () => {
    const all = ['first', 'second', 'x'.repeat(300_000), '', 'last'];
    const bytes = all.map((message) => encoded(ErrorDetail, detail(message)));
    expect(bytes.map(messageOf)).toEqual(all);
  });

  test('has memory of its own', () => {
    const { byteLength, buffer } = readRest.responseSerialize({ body: Buffer.from('[]'), rest: undefined });
    expect(buffer.byteLength).toBe(byteLength);
  });

  test('has nothing of a message before it that could not be encoded', () => {
    const halfWritten = {
      encode(message: ErrorDetail, writer: BinaryWriter): never {
        ErrorDetail.encode(message, writer);
        throw new Error('It cannot be encoded.');
      },
    };
    expect(() => encoded(halfWritten, detail('half'))).toThrow('It cannot be encoded.');
    // By its bytes: a decoder takes the last value of a field and would skip the half before it.
    expect(encoded(ErrorDetail, detail('whole')).equals(ownBytesOf('whole'))).toBe(true);
  });

  test('is what a writer of its own makes of it, whatever was encoded before and is encoded later', () => {
    const text = fc
      .tuple(fc.string({ unit: 'binary', maxLength: 3 }), fc.nat(30_000))
      .map(([piece, times]) => piece.repeat(times));
    const answers = fc.array(text, { maxLength: 3 });
    const messages = fc.array(fc.record({ text, answers, fails: fc.boolean() }), { maxLength: 5 });
    fc.assert(
      fc.property(messages, (all) => {
        const made = all.map(({ text, answers, fails }) => {
          const message: ExchangeResponse = {
            answers: answers.map((answer, id) => ({ id, message: Buffer.from(answer) })),
            failures: [{ id: 1, error: detail(text) }],
            ...{ goingAway: false, endedIds: [] },
          };
          if (fails) {
            // Fails at its end, inside a list.
            expect(() => encoded(ExchangeResponse, { ...message, endedIds: [-1] })).toThrow('invalid uint32');
          }
          const own = ExchangeResponse.encode(message, new BinaryWriter()).finish();
          return { own, bytes: encoded(ExchangeResponse, message) };
        });
        expect(made.map(({ own, bytes }) => bytes.equals(own))).toEqual(made.map(() => true));
      }),
      { numRuns: 50 },
    );
  });

  test('leaves the memory for the next one, unless it is a long one', () => {
    const writers: BinaryWriter[] = [];
    const noting = {
      encode(message: ErrorDetail, writer: BinaryWriter) {
        writers.push(writer);
        return ErrorDetail.encode(message, writer);
      },
    };
    for (const length of [10, 200_000, 300_000, 10]) {
      encoded(noting, detail('x'.repeat(length)));
    }
    expect(writers.map((writer) => writers.indexOf(writer))).toEqual([0, 0, 0, 3]);
  });

  test('has nothing of a message that is encoded meanwhile', () => {
    const inner: Buffer[] = [];
    const outer = {
      encode(message: ErrorDetail, writer: BinaryWriter) {
        ErrorDetail.encode(message, writer);
        inner.push(encoded(ErrorDetail, detail('inner')));
        return writer;
      },
    };
    expect([encoded(outer, detail('outer')), ...inner].map(messageOf)).toEqual(['outer', 'inner']);
  });
});

describe('a field of bytes', () => {
  test('shares the memory of its message if it is most of it', () => {
    const received = readRest.responseSerialize({ body: Buffer.alloc(40_000, 'x'), rest: undefined });
    const { body } = readRest.responseDeserialize(received);
    expect(body).toEqual(Buffer.alloc(40_000, 'x'));
    expect(body.buffer).toBe(received.buffer);
  });

  test('keeps no long message in memory', () => {
    const answers = [Buffer.alloc(40_000, 'x'), Buffer.from('short')].map((message, id) => ({ id, message }));
    const received = exchange.responseSerialize({ answers, failures: [], goingAway: false, endedIds: [] });
    const [long, short] = exchange.responseDeserialize(received).answers.map(({ message }) => message);
    expect(long?.buffer).toBe(received.buffer);
    expect(short?.toString()).toBe('short');
    expect(short?.buffer).not.toBe(received.buffer);
  });
});

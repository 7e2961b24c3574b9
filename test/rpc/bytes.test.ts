import type { BinaryWriter } from '@bufbuild/protobuf/wire';
import { describe, expect, test } from '@jest/globals';
import { CallServiceService } from '../../generated/proto/integration/calls/v1/calls.js';
import { DirectoryServiceService } from '../../generated/proto/integration/directory/v1/directory.js';
import { ErrorDetail } from '../../generated/proto/integration/errors/v1/errors.js';
import { encoded } from '../../src/rpc/bytes.js';

const { exchange } = CallServiceService;
const { readRest } = DirectoryServiceService;
const detail = (message: string) => ({ ...ErrorDetail.decode(new Uint8Array()), message });
const messageOf = (bytes: Buffer) => ErrorDetail.decode(bytes).message;

describe('a message in bytes', () => {
  test('stays as it is when others are encoded after it', () => {
    const all = ['first', 'x'.repeat(300_000), '', 'last'];
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
    expect(messageOf(encoded(ErrorDetail, detail('whole')))).toBe('whole');
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

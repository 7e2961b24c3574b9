/**
 * The bytes of an HTTP/2 connection with one gRPC call, whose message comes in frames of one byte. Before
 * each, there are as many frames of 16 KiB as `skipped` says, which HTTP/2 skips.
 */
export function callInSmallFrames(path: string, token: string, message: Buffer, skipped = 0): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(message.length);
  const data = Buffer.concat([Buffer.alloc(1), size, message]);
  const skippedFrames = Array<Buffer>(skipped).fill(frame(UNKNOWN, 0, 0, Buffer.alloc(16 * 1_024)));
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(SETTINGS, 0, 0, Buffer.alloc(0)),
    frame(HEADERS, END_HEADERS, STREAM, headers(path, token)),
    ...Array.from(data, (byte) => [...skippedFrames, frame(DATA, 0, STREAM, Buffer.of(byte))]).flat(),
  ]);
}

/** Ends the call of the connection. */
export function endOfCall(rest: Buffer): Buffer {
  return frame(DATA, END_STREAM, STREAM, rest);
}

const DATA = 0;
const HEADERS = 1;
const SETTINGS = 4;
const UNKNOWN = 0xf0;
const END_STREAM = 1;
const END_HEADERS = 4;
const STREAM = 1;

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Each as a literal with a new name (RFC 7541, section 6.2.2), for which names and values must be short. */
function headers(path: string, token: string): Buffer {
  const literals = Object.entries({
    ':method': 'POST',
    ':scheme': 'http',
    ':path': path,
    ':authority': 'localhost',
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${token}`,
  }).map(([name, value]) => [Buffer.of(0), text(name), text(value)]);
  return Buffer.concat(literals.flat());
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
}

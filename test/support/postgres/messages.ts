/** The type of a message, one character, and its length, which counts itself. */
export const TYPE_AND_LENGTH = 5;

/** Takes the bytes of a connection with PostgreSQL apart into messages; parts may have any size. */
export function messages(onMessage: (message: Buffer) => void): (part: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (part) => {
    rest = Buffer.concat([rest, part]);
    while (rest.length >= TYPE_AND_LENGTH) {
      const end = 1 + rest.readInt32BE(1);
      if (rest.length < end) {
        return;
      }
      const message = rest.subarray(0, end);
      rest = rest.subarray(end);
      onMessage(message);
    }
  };
}

/** The text of these bytes; undefined if they are not UTF-8. A byte order mark stays, for the grammar of the text to refuse. */
export function utf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

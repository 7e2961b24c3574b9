/** The text of these bytes; undefined if not UTF-8. Keeps a byte order mark, which parsers refuse. */
export function utf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

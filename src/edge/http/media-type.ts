/** A media type with at most one parameter, which can only be the charset. */
const SHAPE = /^([\w!#$&^.+-]+\/[\w!#$&^.+-]+)[ \t]*(?:;[ \t]*charset=("?)([\w-]+)\2[ \t]*)?;?$/i;

/** The media type of a header, in lower case; undefined if malformed or not UTF-8. */
export function mediaTypeOf(contentType: string): string | undefined {
  const match = SHAPE.exec(contentType.trim());
  const charset = match?.[3]?.toLowerCase() ?? 'utf-8';
  return charset === 'utf-8' || charset === 'utf8' ? match?.[1]?.toLowerCase() : undefined;
}

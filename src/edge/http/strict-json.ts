const MAX_DEPTH = 16;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** In a text that is JSON: a string, told apart as a name by the colon behind it, or what opens and closes. */
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;

/**
 * A JSON object, its members without the prototype that an object would have. Undefined where parsers disagree on what is meant: a member given
 * twice, text that no UTF-8 can say, what is nested deeper than anything here, and what is no object.
 */
export function parseJsonObject(text: string): ReadonlyMap<string, unknown> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && isUnambiguous(text) ? new Map(Object.entries(value as object)) : undefined;
}

/** JSON.parse has checked the grammar, so that names and brackets are all there is to look at. */
function isUnambiguous(text: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  for (const [token, colon] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : undefined);
      if (open.length > MAX_DEPTH) {
        return false;
      }
    } else if (token === '}' || token === ']') {
      open.pop();
    } else {
      const written = JSON.parse(colon === undefined ? token : token.slice(0, -colon.length)) as string;
      const names = colon === undefined ? undefined : open.at(-1);
      if (LONE_SURROGATE.test(written) || names?.has(written)) {
        return false;
      }
      names?.add(written);
    }
  }
  return true;
}

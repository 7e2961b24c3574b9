const MAX_DEPTH = 16;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** In valid JSON: a string, with the colon that makes it a name, or a bracket. */
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;

/** Undefined where parsers may disagree: repeated names, invalid UTF-16, deep nesting. No prototype. */
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

/** JSON.parse has checked the grammar, so names and brackets suffice. */
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

/** Ten digits are over three hundred years. */
const NON_NEGATIVE_INTEGER = /^(0|[1-9]\d{0,9})$/;

/** `max_age` in seconds; undefined if it is not a non-negative integer. */
export function parseMaxAge(text: string): number | undefined {
  return NON_NEGATIVE_INTEGER.test(text) ? Number(text) : undefined;
}

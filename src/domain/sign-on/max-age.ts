/** Ten digits are over three hundred years: longer than any sign-in lasts. */
const NON_NEGATIVE_INTEGER = /^(0|[1-9]\d{0,9})$/;

/** `max_age` in seconds, or undefined if it is no non-negative integer as JSON would write it. */
export function parseMaxAge(text: string): number | undefined {
  return NON_NEGATIVE_INTEGER.test(text) ? Number(text) : undefined;
}

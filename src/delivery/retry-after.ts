const SECONDS = /^\d{1,9}$/;
/** The longest wait in nine digits. A date may be later, and the number of a message has 32 bits. */
const MOST_SECONDS = 999_999_999;
/** The only date format that HTTP permits to send (RFC 9110); Date.parse accepts almost anything. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** How long a busy receiver asks us to wait; undefined if absent or malformed. */
export function retryAfterSeconds(
  status: number,
  value: string | undefined,
  now: number,
): number | undefined {
  const text = value?.trim() ?? '';
  if (status !== 429 && status !== 503) {
    return undefined;
  }
  if (SECONDS.test(text)) {
    return Number(text);
  }
  const at = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(MOST_SECONDS, Math.max(0, Math.ceil((at - now) / 1_000)));
}

const SECONDS = /^\d{1,9}$/;
/** The one form of date that HTTP lets be sent (RFC 9110); Date.parse alone would take almost anything. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** How long a receiver that is busy asks us to wait, or undefined if it does not say, or not in a way that can be read. */
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
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1_000));
}

/** Milliseconds since 1970; replaced in tests. */
export type Clock = () => number;

/** The end of the year 9999, the latest time of protobuf. */
export const LATEST_MS = 253_402_300_799_999;

/** The clocks of nodes differ by less. */
const CLOCK_SKEW_MS = 60_000;

/** Whether a recorded time is from before the clock was set back. */
export function isAhead(recordedAt: number, now: number): boolean {
  return recordedAt > now + CLOCK_SKEW_MS;
}

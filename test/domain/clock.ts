/** A clock that stands still until it is turned. */
export function fakeClock(startMs = 1_790_000_000_000) {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

/** For a purge with a single clock, as on SQLite. */
export function oneClock(now: () => number) {
  return { clock: now, removalTime: now };
}

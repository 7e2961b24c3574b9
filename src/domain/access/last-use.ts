/** A key, token or secret, with the last use that is known of it. */
interface Used {
  id: string;
  lastUsedAt: number | null;
}

/** One conditional statement: moves the last use forward to `at` unless it already stands at `unlessSince` or later. */
export type MarkUsed = (id: string, at: number, unlessSince: number) => Promise<void>;

/**
 * Last use is for people who clean up; a step is near enough, and keeps most calls from writing. No call waits for the note: one
 * that is lost costs a step of accuracy.
 */
export async function noteUse(
  { id, lastUsedAt }: Used,
  now: number,
  stepMs: number,
  markUsed: MarkUsed,
): Promise<void> {
  const unlessSince = now - stepMs;
  if (lastUsedAt === null || lastUsedAt < unlessSince) {
    await markUsed(id, now, unlessSince);
  }
}

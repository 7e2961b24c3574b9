/** A key, token or secret with its last known use. */
interface Used {
  id: string;
  lastUsedAt: number | null;
}

/** One conditional statement: moves the last use forward to `at` unless it is at `unlessSince` or later. */
export type MarkUsed = (id: string, at: number, unlessSince: number) => Promise<void>;

/** Notes the last use in coarse steps, which spare most writes. Calls do not wait for it. */
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

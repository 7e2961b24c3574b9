/** Prints how long a step took. */
export async function reported(label: string, work: Promise<void>): Promise<void> {
  const startedAt = performance.now();
  const took = () => `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
  try {
    await work;
  } catch (error) {
    process.stderr.write(`${label} failed after ${took()}\n`);
    throw error;
  }
  process.stderr.write(`${label} ${took()}\n`);
}

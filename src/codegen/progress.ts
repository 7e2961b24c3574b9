/** Prints the number and duration of each step. */
export class Progress {
  #step = 0;

  constructor(private readonly total: number) {}

  async during<T>(title: string, work: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const label = `[${++this.#step}/${this.total}] ${title}`;
    try {
      const result = await work;
      process.stderr.write(`${label} ${seconds(startedAt)}\n`);
      return result;
    } catch (error) {
      process.stderr.write(`${label} failed after ${seconds(startedAt)}\n`);
      throw error;
    }
  }
}

function seconds(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
}

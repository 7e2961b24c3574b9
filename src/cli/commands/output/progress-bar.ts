const WIDTH = 30;
const INTERVAL_MS = 100;

/** One line on a terminal, overwritten as work proceeds; silent where stderr is not a terminal. */
export class ProgressBar {
  #shownAt = 0;

  constructor(private readonly output: NodeJS.WriteStream = process.stderr) {}

  show(share: number | undefined, words: string): void {
    const now = performance.now();
    if (this.output.isTTY && now - this.#shownAt >= INTERVAL_MS) {
      this.#shownAt = now;
      this.output.write(`\r\x1b[K${barOf(share)}${words}`);
    }
  }

  clear(): void {
    if (this.output.isTTY) {
      this.output.write('\r\x1b[K');
    }
  }
}

function barOf(share: number | undefined): string {
  if (share === undefined) {
    return '';
  }
  const full = Math.round(Math.min(share, 1) * WIDTH);
  return `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}] ${String(Math.floor(share * 100)).padStart(3)} %  `;
}

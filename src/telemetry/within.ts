/** The outcome of the work or, when the time is over first, that of `late`. */
export async function within<T>(limitMs: number, work: Promise<T>, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  return Promise.race([work, limit.then(late)]).finally(() => clearTimeout(timer));
}

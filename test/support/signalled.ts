/** A promise with its resolve function. */
export function signalled<T = void>() {
  let tell: (value: T | PromiseLike<T>) => void = () => undefined;
  const told = new Promise<T>((resolve) => {
    tell = resolve;
  });
  return { told, tell };
}

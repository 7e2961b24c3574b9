/** Returns a function that does the work in the next turn of the event loop, once for all its calls. */
export function inNextTurn(work: () => void): () => void {
  let isDue = false;
  return () => {
    if (!isDue) {
      isDue = true;
      setImmediate(() => {
        isDue = false;
        work();
      });
    }
  };
}

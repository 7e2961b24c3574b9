interface Slot<Output> {
  outcome?: { value: Output } | { error: unknown };
}

/** Processes a few inputs at a time, in order, and yields results in order. A read error comes after them. */
export async function* pipelined<Input, Output>(
  inputs: AsyncIterator<Input>,
  limit: number,
  work: (input: Input) => Promise<Output>,
): AsyncGenerator<Output[]> {
  const slots: Slot<Output>[] = [];
  let isReading = false;
  let isOver = false;
  let wake: () => void = () => undefined;

  const add = async (result: Promise<Output>) => {
    const slot: Slot<Output> = {};
    slots.push(slot);
    slot.outcome = await result.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    wake();
  };
  const read = async () => {
    isReading = true;
    try {
      const { done, value } = await inputs.next();
      if (done) {
        isOver = true;
      } else {
        void add(work(value));
      }
    } catch (error) {
      isOver = true;
      void add(Promise.reject(error));
    }
    isReading = false;
    wake();
  };

  for (;;) {
    if (!isReading && !isOver && slots.length < limit) {
      void read();
    }
    const settled = takeSettled(slots);
    if (settled.length > 0) {
      yield settled;
    } else if (isOver && slots.length === 0) {
      return;
    } else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}

/** Finished results at the head. A failure waits until those before it were yielded. */
function takeSettled<Output>(slots: Slot<Output>[]): Output[] {
  const settled: Output[] = [];
  for (let head = slots[0]; head?.outcome; head = slots[0]) {
    if ('error' in head.outcome) {
      if (settled.length === 0) {
        throw head.outcome.error;
      }
      break;
    }
    settled.push(head.outcome.value);
    slots.shift();
  }
  return settled;
}

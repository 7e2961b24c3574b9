type Outcome<Output> = { value: Output } | { error: unknown };

interface Slot<Output> {
  ended: Promise<Outcome<Output>>;
  outcome?: Outcome<Output>;
}

/**
 * Processes a few inputs at a time, in order, and yields results in order. A failure, also of reading, is
 * thrown after the results of all that was begun, so that each input that took effect has its result.
 */
export async function* pipelined<Input, Output>(
  inputs: AsyncIterator<Input>,
  limit: number,
  work: (input: Input) => Promise<Output>,
): AsyncGenerator<Output[]> {
  const slots: Slot<Output>[] = [];
  let isReading = false;
  let isOver = false;
  let wake: () => void = () => undefined;

  const add = (result: Promise<Output>) => {
    const slot: Slot<Output> = {
      ended: result.then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      ),
    };
    slots.push(slot);
    void slot.ended.then((outcome) => {
      slot.outcome = outcome;
      wake();
    });
  };
  const read = async () => {
    isReading = true;
    try {
      const { done, value } = await inputs.next();
      if (done) {
        isOver = true;
      } else if (!isOver) {
        add(work(value));
      }
    } catch (error) {
      isOver = true;
      add(Promise.reject(error));
    }
    isReading = false;
    wake();
  };

  for (;;) {
    if (!isReading && !isOver && slots.length < limit) {
      void read();
    }
    const settled = takeSettled(slots);
    const [head] = slots;
    if (settled.length > 0) {
      yield settled;
    } else if (head?.outcome && 'error' in head.outcome) {
      isOver = true;
      const outcomes = await Promise.all(slots.map(({ ended }) => ended));
      const others = outcomes.flatMap((outcome) => ('value' in outcome ? [outcome.value] : []));
      if (others.length > 0) {
        yield others;
      }
      throw head.outcome.error;
    } else if (isOver && slots.length === 0) {
      return;
    } else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}

/** Results at the head, up to a failure. */
function takeSettled<Output>(slots: Slot<Output>[]): Output[] {
  const settled: Output[] = [];
  for (let head = slots[0]; head?.outcome && 'value' in head.outcome; head = slots[0]) {
    settled.push(head.outcome.value);
    slots.shift();
  }
  return settled;
}

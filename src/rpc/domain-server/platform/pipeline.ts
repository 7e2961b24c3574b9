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
  let reading = false;
  let end: { error?: unknown } | undefined;
  let wake: () => void = () => undefined;

  const begin = (input: Input) => {
    const slot: Slot<Output> = {};
    slots.push(slot);
    const settle = (outcome: Slot<Output>['outcome']) => {
      slot.outcome = outcome;
      wake();
    };
    work(input).then(
      (value) => settle({ value }),
      (error: unknown) => settle({ error }),
    );
  };
  const read = async () => {
    reading = true;
    try {
      const { done, value } = await inputs.next();
      if (done) {
        end = {};
      } else {
        begin(value);
      }
    } catch (error) {
      end = { error };
    }
    reading = false;
    wake();
  };

  for (;;) {
    if (!reading && !end && slots.length < limit) {
      void read();
    }
    const settled = takeSettled(slots);
    if (settled.length > 0) {
      yield settled;
    } else if (end && slots.length === 0) {
      if ('error' in end) {
        throw end.error;
      }
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

import { eventually } from '../support/eventually.js';
import type { Exchange } from '../support/http-exchange.js';
import type { ServiceProcess } from '../support/service-process.js';
import { unlessTurnedAway } from '../support/turned-away.js';

/** What breaks when the other side dies: before the connection, in its middle, or while the answer comes. */
const CUT = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

export type Ask = () => Promise<Exchange>;

/** Asks processes that may die at any moment, and reports an answer, or that the outcome is unknown. */
export class PatientClient<Step extends string> {
  readonly interruptions: Step[] = [];
  readonly #underWay = new Map<Step, number>();
  #back: Promise<unknown> | undefined;

  constructor(
    private readonly service: ServiceProcess,
    private readonly onEnd: () => void = () => undefined,
  ) {}

  underWay(step: Step): number {
    return this.#underWay.get(step) ?? 0;
  }

  /** Undefined when the connection was cut, or a role was away. The caller decides whether to repeat. */
  async askOnce(step: Step, ask: Ask): Promise<Exchange | undefined> {
    this.#underWay.set(step, this.underWay(step) + 1);
    const answer = await answerUnlessCut(ask());
    this.#underWay.set(step, this.underWay(step) - 1);
    this.onEnd();
    if (answer) {
      return answer;
    }
    this.interruptions.push(step);
    await this.#untilReady();
    return undefined;
  }

  /** For what may be repeated, until it is answered. */
  ask(step: Step, ask: Ask): Promise<Exchange> {
    return eventually(`an answer to ${step}`, () => this.askOnce(step, ask));
  }

  /** All who wait look together, so that they take nothing from what starts. */
  #untilReady(): Promise<unknown> {
    this.#back ??= eventually('readiness', () => isReady(this.service)).finally(() => {
      this.#back = undefined;
    });
    return this.#back;
  }
}

/** Does it for each, so many at a time. */
export async function forEachOf<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const workThrough = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index] as T, index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, workThrough));
  return results;
}

/** Whether every role is ready: a node without a worker is only degraded. */
export async function isReady({ opsUrl }: ServiceProcess): Promise<boolean> {
  return fetch(`${opsUrl}/readyz`).then(
    async (response) => response.status === 200 && !(await response.text()).includes('"unready"'),
    () => false,
  );
}

/** Undefined when the server died, or has no domain to ask. */
export async function answerUnlessCut(asked: Promise<Exchange>): Promise<Exchange | undefined> {
  return unlessTurnedAway(asked).catch((error: NodeJS.ErrnoException) => {
    if (!CUT.has(error.code ?? '')) {
      throw error;
    }
    return undefined;
  });
}

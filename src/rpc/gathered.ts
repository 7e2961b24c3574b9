import { ErrorCode, ServiceError } from '../errors/service-error.js';

export interface Gathering {
  /** Asked together at most. */
  most: number;
  /** How long the first waits for others; 0 waits for those that are asked before anything else happens. */
  withinMs: number;
}

interface Waiting<Question, Answer> {
  question: Question;
  resolve: (answer: Answer) => void;
  reject: (reason: unknown) => void;
}

/**
 * Asks together what several ask at about the same time, because one call for many costs little more than one for one. `askAll` answers each in
 * its place. What is refused together is asked again one by one, so that none fails for another's fault; where nobody answers, all fail.
 */
export function gathered<Question, Answer>(
  { most, withinMs }: Gathering,
  askAll: (questions: Question[]) => Promise<readonly Answer[]>,
): (question: Question) => Promise<Answer> {
  let waiting: Waiting<Question, Answer>[] = [];
  let timer: NodeJS.Timeout | NodeJS.Immediate | undefined;

  const askTogether = () => {
    clearTimer(timer);
    timer = undefined;
    const asked = waiting;
    waiting = [];
    void settle(asked);
  };
  const settle = async (asked: Waiting<Question, Answer>[]): Promise<void> => {
    try {
      const answers = await askAll(asked.map(({ question }) => question));
      for (const [index, { resolve }] of asked.entries()) {
        resolve(answers[index] as Answer);
      }
    } catch (error) {
      if (asked.length > 1 && isRefusal(error)) {
        await Promise.all(asked.map((one) => settle([one])));
      } else {
        for (const { reject } of asked) {
          reject(error);
        }
      }
    }
  };

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      if (waiting.length === most) {
        askTogether();
      } else {
        timer ??= withinMs === 0 ? setImmediate(askTogether) : setTimeout(askTogether, withinMs);
      }
    });
}

function isRefusal(error: unknown): boolean {
  return !(error instanceof ServiceError && error.code === ErrorCode.UNAVAILABLE);
}

function clearTimer(timer: NodeJS.Timeout | NodeJS.Immediate | undefined): void {
  clearTimeout(timer as NodeJS.Timeout);
  clearImmediate(timer as NodeJS.Immediate);
}

import { createContractApi } from '../../../src/edge/contract/contract-api.js';
import { BodyRefusal } from '../../../src/edge/http/exchange.js';
import { signOnErrors } from '../../../src/edge/sign-on/error-answer.js';
import { PageWriter } from '../../../src/edge/sign-on/page-writer.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { AnswerJudge } from '../../support/contract/answer-judge.js';
import { contractDocument } from '../../support/contract/contract-document.js';
import { startListener } from '../../support/edge-listener.js';
import { recordedLog } from '../../support/recorded-log.js';

const FAULTS: Record<number, () => Error> = {
  408: () => new BodyRefusal(408, 'The body did not arrive in time.'),
  429: () =>
    new ServiceError(ErrorCode.RATE_LIMITED, 'Too many people are beginning to sign in from your network.', {
      retryAfterSeconds: 9,
    }),
  500: () => new Error('planted'),
  503: () => new ServiceError(ErrorCode.UNAVAILABLE, 'Busy.', { retryAfterSeconds: 2 }),
};

export const plantedStatuses = Object.keys(FAULTS).map(Number);

export interface FaultySignOn {
  port: number;
  /** How every request ends from now on. */
  plant(status: number): void;
  stop(): Promise<void>;
}

/** The edge of sign-on, from the listener to the error page, over operations that all fail alike. */
export async function startFaultySignOn(): Promise<FaultySignOn> {
  let planted = 500;
  const fail = async () => {
    throw FAULTS[planted]?.();
  };
  const { log } = recordedLog();
  const { dispatch } = await createContractApi({
    document: contractDocument('sign-on'),
    handlers: Object.fromEntries(
      new AnswerJudge('sign-on').operations().map(({ operationId }) => [operationId, fail]),
    ) as never,
    authenticate: () => undefined,
    dependencies: {},
    toErrorAnswer: signOnErrors(new PageWriter('demo')),
    log,
  });
  const { port, stop } = await startListener({ api: 'sign-on', log }, () => dispatch);
  return {
    port,
    plant: (status) => {
      planted = status;
    },
    stop,
  };
}

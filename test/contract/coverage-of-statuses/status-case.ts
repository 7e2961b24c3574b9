import { AnswerJudge } from '../../support/contract/answer-judge.js';

export type Api = 'gateway' | 'sign-on';

/** One documented status of one operation. */
export interface StatusPair {
  api: Api;
  operationId: string;
  status: number;
}

/** In the order in which the service is taken apart. */
export const STAGES = ['whole', 'store spoiled', 'domain stopped', 'fault planted'] as const;

export type Stage = (typeof STAGES)[number];

/** How a status is caused: by whom asking what, while the service is in which state. */
export interface StatusCase<Asker> extends StatusPair {
  stage: Stage;
  ask: Asker;
}

export function documentedPairs(api: Api): StatusPair[] {
  const judge = new AnswerJudge(api);
  return judge
    .operations()
    .flatMap(({ operationId }) =>
      judge.statusesOf(operationId).map((status) => ({ api, operationId, status })),
    );
}

export const nameOf = ({ api, operationId, status }: StatusPair) => `${api} ${operationId} ${status}`;

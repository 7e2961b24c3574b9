import type { InstanceIntegrationId } from '../../../generated/ids.js';
import { changeCursors } from '../../../src/keys/change-cursors.js';
import { foreignIds, ownIds, unknownIds } from '../../gateway/demo-paths.js';
import {
  type GatewayOperation,
  gatewayOperations,
  operationNamed,
  pathOf,
} from '../../support/gateway/operations.js';
import type { Question } from '../../support/http-exchange.js';
import { type CoveredService, GATEWAY_LIMIT, type Judged, type PrismJudge } from './covered-service.js';
import type { Stage, StatusCase } from './status-case.js';

type Ask = (service: CoveredService, operation: GatewayOperation, judge: PrismJudge) => Promise<Judged>;

export type GatewayAsk = (service: CoveredService, judge: PrismJudge) => Promise<Judged>;

interface Way {
  stage?: Stage;
  /** Operations without an id in their path find everything there. */
  needsId?: true;
  ask: Ask;
}

const asking =
  (headers: Question['headers'], ids: Record<string, string> = ownIds): Ask =>
  (service, operation) =>
    service.throughProxy(pathOf(operation, ids), { headers: { 'x-api-key': service.apiKey(), ...headers } });

/** With the tag of what is there. */
const unchanged: Ask = async (service, operation, judge) => {
  const { answer } = await asking({})(service, operation, judge);
  return asking({ 'if-none-match': answer.headers.etag })(service, operation, judge);
};

/** Prism would answer it by itself. */
const deleting: Ask = async (service, operation, judge) => {
  const question = { method: 'DELETE', headers: { 'x-api-key': service.apiKey() } };
  const answer = await service.gateway(pathOf(operation, ownIds), question);
  return { answer, violations: judge.violations('gateway', operation.operationId, answer) };
};

/** By another integration, until nothing is left to it; should a window end meanwhile, of the next one. */
const beyondTheLimit: Ask = async (service, operation) => {
  const question = { headers: { 'x-api-key': service.apiKey('spent') } };
  for (let count = 0; count <= 2 * GATEWAY_LIMIT; count += 1) {
    if ((await service.gateway('/v1/instance-integrations', question)).status === 429) {
      break;
    }
  }
  return service.throughProxy(pathOf(operation, foreignIds), question);
};

/** One way to each status, the same for all operations. */
const WAYS: Record<number, Way> = {
  200: { ask: asking({}) },
  304: { ask: unchanged },
  400: { ask: asking({ 'if-none-match': `"${'x'.repeat(4_096)}"` }) },
  401: { ask: asking({ 'x-api-key': undefined }) },
  404: { needsId: true, ask: asking({}, unknownIds) },
  405: { ask: deleting },
  406: { ask: asking({ accept: 'text/csv' }) },
  429: { ask: beyondTheLimit },
  500: { stage: 'store spoiled', ask: asking({}) },
  503: { stage: 'domain stopped', ask: asking({}) },
};

/** Sealed with a key that this database never had. */
export const EXPIRED_CURSOR = changeCursors(Buffer.alloc(32)).write(
  {
    ...{ life: '000000000000', beganAt: 0, isLoading: false, newest: 1 },
    after: { position: 1, type: 'worker', id: ownIds.workerId },
  },
  ownIds.instanceIntegrationId as InstanceIntegrationId,
);

const expired: StatusCase<GatewayAsk> = {
  api: 'gateway',
  operationId: 'listChanges',
  status: 410,
  stage: 'whole',
  ask: (service) => {
    const path = pathOf(operationNamed('listChanges'), ownIds, `after=${EXPIRED_CURSOR}`);
    return service.throughProxy(path, { headers: { 'x-api-key': service.apiKey() } });
  },
};

export const gatewayCases: StatusCase<GatewayAsk>[] = [
  expired,
  ...gatewayOperations.flatMap((operation) =>
    Object.entries(WAYS)
      .filter(([, { needsId }]) => !needsId || operation.template.includes('{'))
      .map(([status, { stage = 'whole', ask }]) => ({
        api: 'gateway' as const,
        operationId: operation.operationId,
        status: Number(status),
        stage,
        ask: (service: CoveredService, judge: PrismJudge) => ask(service, operation, judge),
      })),
  ),
];

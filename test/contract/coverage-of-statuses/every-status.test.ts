import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serviceProcesses } from '../../support/service-process.js';
import { CoveredService, type Judged, PrismJudge, SETTINGS } from './covered-service.js';
import { gatewayCases } from './gateway-cases.js';
import { type FaultySignOn, startFaultySignOn } from './planted-faults.js';
import { signOnCases, strayWays } from './sign-on-cases.js';
import { accessToken, waitingPages } from './sign-on-walks.js';
import { documentedPairs, nameOf, type Stage, stages } from './status-case.js';

const services = serviceProcesses();
let service: CoveredService;
let faulty: FaultySignOn;
let judge: PrismJudge;

beforeAll(async () => {
  [service, faulty, judge] = await Promise.all([
    services.start({ env: SETTINGS }).then((running) => CoveredService.over(running)),
    startFaultySignOn(),
    PrismJudge.make(),
  ]);
  service.keptToken = await accessToken(service);
  service.keptPages = await waitingPages(service);
});

afterAll(() => Promise.all([service.close(), faulty.stop()]));

const signOnAsked = signOnCases.map((one) => ({
  ...one,
  ask: async (): Promise<Judged> => {
    const answer = await one.ask(service, faulty);
    return { answer, violations: judge.violations('sign-on', one.operationId, answer) };
  },
}));
const gatewayAsked = gatewayCases.map((one) => ({ ...one, ask: () => one.ask(service, judge) }));
const cases = [...gatewayAsked, ...signOnAsked];

const enter: Record<Stage, () => void> = {
  whole: () => undefined,
  'store spoiled': () => service.spoilStore(),
  'domain stopped': () => service.stopDomain(),
  'fault planted': () => undefined,
};

test('every documented status of every operation is caused here', () => {
  const caused = new Set(cases.map(nameOf));
  const documented = [...documentedPairs('gateway'), ...documentedPairs('sign-on')];
  expect(documented.length).toBeGreaterThan(250);
  expect(documented.map(nameOf).filter((name) => !caused.has(name))).toEqual([]);
  expect(cases).toHaveLength(documented.length);
  expect(strayWays).toEqual([]);
});

// In this order: what is taken from the service in one stage is missing in the next.
describe.each(stages)('%s', (stage) => {
  beforeAll(() => enter[stage]());

  test.each(cases.filter((one) => one.stage === stage))(
    '$api $operationId answers $status, and Prism has nothing against it',
    async ({ status, ask }) => {
      const { answer, violations } = await ask();
      expect([answer.status, violations]).toEqual([status, []]);
    },
  );
});

describe('a wrong answer', () => {
  const problem = { status: 400, headers: { 'content-type': 'application/problem+json' }, body: '{}' };
  const page = { status: 400, headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<h1>' };
  test.each([
    { what: 'with a status that is none of its', api: 'gateway', id: 'getUser', change: { status: 418 } },
    { what: 'without what a problem must have', api: 'gateway', id: 'getUser', change: problem },
    { what: 'of another media type', api: 'gateway', id: 'getUser', change: page },
    { what: 'with JSON for a page', api: 'sign-on', id: 'authorize', change: problem },
    { what: 'with an unknown path', api: 'sign-on', id: 'signIn', change: { status: 303, body: '' } },
    { what: 'without its headers', api: 'sign-on', id: 'signIn', change: page },
  ] as const)('$what is caught: $api $id', ({ api, id, change }) => {
    const answer = { method: 'GET', target: '/', headers: {}, body: '', ...change };
    expect(judge.violations(api, id, answer)).not.toEqual([]);
  });
});

import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hiddenFields } from '../../attacks/user-agent.js';
import { ownIds } from '../../gateway/demo-paths.js';
import { contractDocument } from '../../support/contract/contract-document.js';
import { gatewayOperations, pathOf } from '../../support/gateway/operations.js';
import type { Exchange } from '../../support/http-exchange.js';
import { serviceProcesses } from '../../support/service-process.js';
import { CoveredService, type Judged, PrismJudge, SETTINGS } from './covered-service.js';
import { type ErrorExample, errorExamples, exampleNameOf, isExample } from './error-examples.js';
import { exampleCases } from './example-cases.js';
import { gatewayCases } from './gateway-cases.js';
import { furtherPages, lacking, type PageExample, pageExamples, type ServedPage } from './page-examples.js';
import { missingPiece } from './page-outline.js';
import { type FaultySignOn, startFaultySignOn } from './planted-faults.js';
import { destinationOf, furtherRedirects, redirectExamples } from './redirect-examples.js';
import { requestExamples, sendExample } from './request-examples.js';
import { signOnCases, strayWays } from './sign-on-cases.js';
import { endedPages } from './sign-on-successes.js';
import { accessToken, waitingPages } from './sign-on-walks.js';
import { type Api, documentedPairs, nameOf, STAGES, type Stage } from './status-case.js';

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

describe('the requests of the documents succeed', () => {
  const sent = requestExamples.flatMap((one) => one.types.map((type) => ({ ...one, type })));
  test.each(sent)('$example as $type, with the fields of a registered application', async (one) => {
    const { status, body } = await sendExample(service, one, one.type);
    expect([status, body]).toEqual([200, expect.any(String)]);
  });

  const { parameters } = contractDocument('gateway').components as {
    parameters: Record<'UsersCursor' | 'WorkersCursor' | 'Limit', { example: unknown }>;
  };
  const cursors = [parameters.UsersCursor, parameters.WorkersCursor].map(({ example }) =>
    String(example).split('.'),
  );
  test.each(gatewayOperations.filter(({ paged }) => paged))(
    '$operationId with its cursor',
    async (operation) => {
      const [list, , place] = cursors.find(([name]) => name === operation.operationId) ?? [];
      const cursor = `${list}.${ownIds.clientId}.${place}`;
      const query = `limit=${parameters.Limit.example}&cursor=${cursor}`;
      const target = `${pathOf(operation, ownIds)}?${query}`;
      const answer = await service.gateway(target, { headers: { 'x-api-key': service.apiKey() } });
      expect([answer.status, JSON.parse(answer.body)]).toEqual([200, expect.any(Array)]);
    },
  );
});

test.each(endedPages)(
  '%s of a sign-in that has ended sends its answer with a form',
  async (operationId, ask) => {
    const answer = await ask(service);
    expect([answer.status, judge.violations('sign-on', operationId, answer)]).toEqual([200, []]);
    expect(hiddenFields(answer)).toEqual({
      code: expect.any(String),
      state: expect.any(String),
      iss: expect.any(String),
    });
  },
);

/** Refusals for programs, as the service gave them. */
const refusals: { api: Api; operationId: string; answer: Exchange }[] = [];
const pages: ServedPage[] = [];
const REDIRECTS = new Set<string>();
const documentedExamples = [...errorExamples('gateway'), ...errorExamples('sign-on')];

test.each(exampleCases)('$api $operationId answers its example $example', async (one) => {
  const { api, operationId, example } = one;
  const answer = await one.ask(service);
  refusals.push({ api, operationId, answer });
  const own = documentedExamples.filter((each) => each.api === api && isExample(each, operationId, answer));
  expect([answer.body, own.map((each) => each.example)]).toEqual([
    answer.body,
    expect.arrayContaining([example]),
  ]);
});

test.each(furtherPages)('%s answers with a page of its examples', async (operationId, ask) => {
  const answer = await ask(service);
  pages.push({ operationId, answer });
  expect(answer.headers['content-type']).toContain('text/html');
});

test.each(furtherRedirects)('%s answers with a redirect of the document', async (_what, ask) => {
  const { status, headers } = await ask(service);
  REDIRECTS.add(destinationOf(String(headers.location)));
  expect(status).toBe(303);
});

// In this order: what is taken from the service in one stage is missing in the next.
describe.each(STAGES)('%s', (stage) => {
  beforeAll(() => enter[stage]());

  test.each(cases.filter((one) => one.stage === stage))(
    '$api $operationId answers $status, and Prism has nothing against it',
    async ({ api, operationId, status, ask }) => {
      const { answer, violations } = await ask();
      expect([answer.status, violations]).toEqual([status, []]);
      if (stage !== 'fault planted' && String(answer.headers['content-type']).includes('json')) {
        refusals.push({ api, operationId, answer });
      }
      if (answer.status === 303) {
        REDIRECTS.add(destinationOf(String(answer.headers.location)));
      }
      if (String(answer.headers['content-type']).includes('html')) {
        pages.push({ operationId, answer });
      }
    },
  );
});

describe('the errors of the documents', () => {
  const isServed = (example: ErrorExample) =>
    refusals.some(
      ({ api, operationId, answer }) => api === example.api && isExample(example, operationId, answer),
    );
  /** Several operations share a response, and not each can be refused in each of its ways. */
  const alike = (one: ErrorExample) => (other: ErrorExample) =>
    other.api === one.api && other.example === one.example && isDeepStrictEqual(other.body, one.body);

  test('are each what the service says, word for word', () => {
    const missing = documentedExamples.filter(
      (one) => !documentedExamples.some((other) => alike(one)(other) && isServed(other)),
    );
    expect([...new Set(missing.map(exampleNameOf))]).toEqual([]);
    expect(documentedExamples.length).toBeGreaterThan(200);
  });

  test('are all that the gateway says of operations that were asked rightly in all but one thing', () => {
    const others = refusals.filter(
      ({ api, operationId, answer }) =>
        api === 'gateway' &&
        answer.status >= 400 &&
        !documentedExamples.some((one) => one.api === api && isExample(one, operationId, answer)),
    );
    expect(others.map(({ operationId, answer }) => `${operationId} ${answer.body}`)).toEqual([]);
  });

  test('another word is found', () => {
    const [example] = documentedExamples as [ErrorExample];
    const body = JSON.stringify({ ...example.body, message: 'Other words.' });
    const answer = { method: 'GET', target: '/', headers: {}, status: example.status };
    expect(isExample(example, example.operationId, { ...answer, body: JSON.stringify(example.body) })).toBe(
      true,
    );
    expect(isExample(example, example.operationId, { ...answer, body })).toBe(false);
  });
});

describe('the pages of the documents', () => {
  test.each(pageExamples)('are each one that the service shows, with less: $name', (one) => {
    expect(lacking(one, pages)).toBeUndefined();
  });

  test('another word, field or order is found', () => {
    const [{ html }] = pageExamples.filter(({ name }) => name.includes('showSignIn 200')) as [PageExample];
    const [email = '', password = ''] = html.match(/<input id.*>/g) ?? [];
    expect(missingPiece(html, html)).toBeUndefined();
    expect(missingPiece(html, html.replace('to continue to', 'to go on to'))).toMatch(/^to continue/);
    expect(missingPiece(html, html.replace('name="email"', 'name="mail"'))).toContain('name,email');
    expect(missingPiece(html, html.replace(password, '').replace(email, password + email))).toContain(
      'password',
    );
  });
});

describe('the redirects of the documents', () => {
  test.each(redirectExamples)('lead where the service leads: $name', ({ location }) => {
    expect([...REDIRECTS]).toContain(destinationOf(location));
  });
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

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type BetterSqlite3 from 'better-sqlite3';
import { newApiKey } from '../../src/identifiers/api-key.js';
import { Sqlite } from '../../src/store/better-sqlite3.js';
import { plantApiKey } from '../store/rows.js';
import { AnswerJudge } from '../support/contract/answer-judge.js';
import { gatewayOperations, idNamesOf, operationNamed, pathOf } from '../support/gateway/operations.js';
import { type RealGateway, startRealGateway } from '../support/gateway/real-gateway.js';
import { type Exchange, exchange } from '../support/http-exchange.js';
import { foreignIds, neighbourIds, owner, ownIds, type PathIds, unknownIds } from './demo-paths.js';

const judge = new AnswerJudge('gateway');

let gateway: RealGateway;
const keys: Record<string, string | undefined> = {};

beforeAll(async () => {
  gateway = await startRealGateway();
  const own = gateway.credentials.apiKeys[owner.id] ?? '';
  const planted = { revoked: newApiKey('demo'), expired: newApiKey('demo') };
  const ofOwner = { integration_id: owner.id };
  await plantApiKey(gateway.database, planted.revoked, { ...ofOwner, revoked_at: Date.now() - 1 });
  await plantApiKey(gateway.database, planted.expired, { ...ofOwner, expires_at: Date.now() - 1 });
  Object.assign(keys, planted, {
    own,
    wrong: newApiKey('demo'),
    short: own.slice(0, -1),
    long: `${own}a`,
    'with a bad checksum': own.slice(0, -1) + (own.endsWith('a') ? 'b' : 'a'),
    'of demo, on live': own,
  });
});

afterAll(() => gateway.stop());

/** How a request must end: by the fault of its key or, if it has none, by the fault of its path. */
const keyKinds: { key: string; code?: string; judgedBy: 'nobody' | 'edge' | 'domain' }[] = [
  { key: 'own', judgedBy: 'nobody' },
  { key: 'none', code: 'api_key_missing', judgedBy: 'edge' },
  { key: 'short', code: 'api_key_malformed', judgedBy: 'edge' },
  { key: 'long', code: 'api_key_malformed', judgedBy: 'edge' },
  { key: 'with a bad checksum', code: 'api_key_malformed', judgedBy: 'edge' },
  { key: 'of demo, on live', code: 'api_key_wrong_environment', judgedBy: 'edge' },
  { key: 'wrong', code: 'api_key_unknown', judgedBy: 'domain' },
  { key: 'revoked', code: 'api_key_unknown', judgedBy: 'domain' },
  { key: 'expired', code: 'api_key_expired', judgedBy: 'domain' },
];

const MISSING: Record<string, string> = {
  instanceIntegrationId: 'instance_integration_not_found',
  clientId: 'client_not_found',
  userId: 'user_not_found',
  workerId: 'worker_not_found',
};

type Fate = { status: number; code?: string };

const idKinds: { kind: string; of(name: keyof PathIds): string; fate(name: string): Fate }[] = [
  {
    kind: "another integration's",
    of: (name) => foreignIds[name],
    fate: (name) => ({ status: 404, code: MISSING[name] }),
  },
  {
    kind: 'an unknown',
    of: (name) => unknownIds[name],
    fate: (name) => ({ status: 404, code: MISSING[name] }),
  },
  {
    kind: 'a malformed',
    of: (name) => ownIds[name].slice(0, -1),
    fate: () => ({ status: 400, code: 'invalid_request' }),
  },
  {
    kind: 'a wrongly prefixed',
    of: (name) => `evt_${ownIds[name].slice(4)}`,
    fate: () => ({ status: 400, code: 'invalid_request' }),
  },
];

const paths = gatewayOperations.flatMap((operation) => [
  {
    operationId: operation.operationId,
    what: 'what is its own',
    path: pathOf(operation, ownIds),
    fate: { status: 200 } as Fate,
  },
  ...idNamesOf(operation).flatMap((name) =>
    idKinds.map(({ kind, of, fate }) => ({
      operationId: operation.operationId,
      what: `${kind} ${name}`,
      path: pathOf(operation, { ...ownIds, [name]: of(name as keyof PathIds) }),
      fate: fate(name),
    })),
  ),
]);

const cells = paths.flatMap((path) =>
  keyKinds.map((kind) => ({ ...path, ...kind, expected: fateOf(path.fate, kind) })),
);

/** Faults of the key that the edge sees come first; those that only the domain sees, after the path. */
function fateOf(path: Fate, { code, judgedBy }: (typeof keyKinds)[number]): Fate {
  const keyDecides = judgedBy === 'edge' || (judgedBy === 'domain' && path.status !== 400);
  return keyDecides ? { status: 401, code } : path;
}

function ask(path: string, kind = 'own'): Promise<Exchange> {
  const headers = { 'x-api-key': keys[kind], accept: 'application/json' };
  return exchange(kind === 'of demo, on live' ? gateway.livePort : gateway.port, path, { headers });
}

test.each(cells)(
  '$operationId of $what with the key $key ends with $expected.status $expected.code',
  async ({ operationId, path, key, expected }) => {
    const answer = await ask(path, key);
    const said: Fate = { status: answer.status };
    if (answer.status !== 200) {
      said.code = JSON.parse(answer.body).code;
    }
    expect(said).toEqual(expected);
    expect(judge.faultsOf(operationId, answer)).toEqual([]);
  },
);

/** All of an answer but what differs from one to the next whatever was asked. */
function telling({ status, headers, body }: Exchange) {
  const {
    date: _,
    'x-request-id': requestId,
    'x-ratelimit-remaining': left,
    'x-ratelimit-reset': reset,
    ...kept
  } = headers;
  expect([left, reset]).toEqual([expect.stringMatching(/^\d+$/), expect.stringMatching(/^\d+$/)]);
  return {
    status,
    headers: kept,
    rawNames: Object.keys(headers),
    body: body.replaceAll(String(requestId), ''),
  };
}

describe("another's id and one that does not exist", () => {
  const pairs = gatewayOperations.flatMap((operation) =>
    idNamesOf(operation).flatMap((name) =>
      [foreignIds, neighbourIds].flatMap((others, index) => {
        const other = others[name as keyof PathIds];
        const reaches =
          other === ownIds[name as keyof PathIds] ||
          (index === 1 && name === 'clientId' && !/user|worker/.test(idNamesOf(operation).join()));
        return reaches
          ? []
          : [
              {
                operationId: operation.operationId,
                name,
                whose: index === 0 ? 'another integration' : 'another client',
                other: pathOf(operation, { ...ownIds, [name]: other }),
                unknown: pathOf(operation, { ...ownIds, [name]: unknownIds[name as keyof PathIds] }),
              },
            ];
      }),
    ),
  );

  test.each(pairs)(
    '$operationId says the same of a $name of $whose',
    async ({ whose, name, other, unknown }) => {
      const [of, missing] = [await ask(other), await ask(unknown)];
      // A worker asked for under a neighbour's client is not there either, though the client is.
      expect(of.status).toBe(404);
      if (whose === 'another client' && name === 'clientId') {
        expect(JSON.parse(of.body).code).toMatch(/^(user|worker)_not_found$/);
      } else {
        expect(telling(of)).toEqual(telling(missing));
      }
    },
  );

  test.each([
    { operationId: 'listClients', name: 'instanceIntegrationId', others: foreignIds },
    { operationId: 'listWorkers', name: 'clientId', others: foreignIds },
    { operationId: 'getClient', name: 'clientId', others: foreignIds },
    { operationId: 'getWorkerV2', name: 'workerId', others: neighbourIds },
    { operationId: 'getUser', name: 'userId', others: foreignIds },
  ] as const)(
    '$operationId asks the database the same for either $name',
    async ({ operationId, name, others }) => {
      const operation = operationNamed(operationId);
      const targets = [others, unknownIds].map((ids) => pathOf(operation, { ...ownIds, [name]: ids[name] }));
      const [one, other] = [await queriesOf(targets[0] ?? ''), await queriesOf(targets[1] ?? '')];
      expect(one).not.toEqual([]);
      expect(one).toEqual(other);
    },
  );
});

const statement: object = Object.getPrototypeOf(new Sqlite(':memory:').prepare('select 1'));

/** What SQLite is asked for a request, so that a caller cannot tell one answer from the other by its time. */
async function queriesOf(path: string): Promise<string[]> {
  const asked = jest.spyOn(statement as BetterSqlite3.Statement, 'all');
  try {
    await ask(path);
    return asked.mock.contexts.map((context) => (context as BetterSqlite3.Statement).source);
  } finally {
    asked.mockRestore();
  }
}

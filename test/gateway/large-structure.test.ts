import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { components } from '../../generated/openapi/gateway.js';
import { createUnitType } from '../../src/domain/platform/organization/unit-types.js';
import { createUnit } from '../../src/domain/platform/organization/units.js';
import { AnswerJudge } from '../support/contract/answer-judge.js';
import { eventually } from '../support/eventually.js';
import { operationNamed, pathOf } from '../support/gateway/operations.js';
import { type RealGateway, startRealGateway } from '../support/gateway/real-gateway.js';
import { exchange, type Question } from '../support/http-exchange.js';
import { untilAnswered } from '../support/turned-away.js';
import { neighbourIds, owner } from './demo-paths.js';

type Structure = components['schemas']['OrganizationStructure'];

const OPERATION = 'getOrganizationStructure';
const PATH = pathOf(operationNamed(OPERATION), neighbourIds);
/** In characters of three bytes: together longer than a message, and short enough for a busy machine. */
const [NAME, DESCRIPTION] = ['漢'.repeat(200), '字'.repeat(500)];
/** The limits of a client, and of the units that one request creates. */
const [MOST_UNITS, MOST_AT_ONCE] = [10_000, 1_000];
const LARGEST_MESSAGE = 16 * 1_024 * 1_024;

let gateway: RealGateway;

beforeAll(async () => {
  gateway = await startRealGateway();
});

afterAll(() => gateway.stop());

const ask = ({ headers, ...question }: Question = {}) =>
  exchange(gateway.port, PATH, {
    ...question,
    headers: { 'x-api-key': gateway.credentials.apiKeys[owner.id] ?? '', ...headers },
  });

/** Fills a client with as many units as it may have. */
async function fill(): Promise<void> {
  const { clientId } = neighbourIds;
  const unit = { name: NAME, description: DESCRIPTION, subUnits: [] };
  const { units } = JSON.parse((await ask()).body) as Structure;
  for (let left = MOST_UNITS - units.length; left > 0; left -= MOST_AT_ONCE) {
    const made = { clientId, name: `Layer ${left}`, units: Array(Math.min(left, MOST_AT_ONCE)).fill(unit) };
    await gateway.store.platform.run((changes) => createUnitType(changes, made));
  }
}

test('a client with all the units it may have has its structure answered, which is longer than a message', async () => {
  await fill();
  const answer = await untilAnswered(() => ask());
  // A streamed answer may be read before its line is written.
  await gateway.log.nextLine(
    ({ msg, requestId }) => msg === 'request' && requestId === answer.headers['x-request-id'],
  );
  expect([answer.status, gateway.log.lines().filter(({ level }) => level === 'error')]).toEqual([200, []]);
  expect(Buffer.byteLength(answer.body)).toBeGreaterThan(LARGEST_MESSAGE);
  expect(new AnswerJudge('gateway').faultsOf(OPERATION, answer)).toEqual([]);
  const { units, unitsTypes } = JSON.parse(answer.body) as Structure;
  expect([units.length, new Set(units.map(({ id }) => id)).size]).toEqual([MOST_UNITS, MOST_UNITS]);
  expect(units.at(-1)).toMatchObject({ name: NAME, description: DESCRIPTION });
  const unitTypeId = unitsTypes[0]?.id ?? '';
  const another = { clientId: neighbourIds.clientId, unitTypeId, name: NAME, subUnits: [] };
  await expect(gateway.store.platform.run((changes) => createUnit(changes, another))).rejects.toThrow(
    'at most 10000 units',
  );

  const { etag } = answer.headers;
  const headers = { 'if-none-match': String(etag) };
  expect(await untilAnswered(() => ask({ headers }))).toMatchObject({ status: 304, body: '' });
  const head = await eventually('an answer', async () => {
    const answered = await ask({ method: 'HEAD' });
    return answered.status !== 503 && answered;
  });
  expect(head).toMatchObject({ status: 200, body: '', headers: { etag } });
});

import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { UnsentAnswers } from '../../../src/edge/http/unsent-answers.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { aWorkerV2, bytesOf, firstOf } from '../../support/gateway/directory-answers.js';
import { type Gateway, startGateway } from '../../support/gateway/gateway.js';
import { operationNamed, pathOf } from '../../support/gateway/operations.js';
import { signalled } from '../../support/signalled.js';
import { slowReader } from '../../support/slow-reader.js';

const OPERATION = operationNamed('listWorkersV2');
const PATH = pathOf(OPERATION);
const LIMIT = 1_000;
/** A page ends with the message that reaches this; the first, a short one, does not count. */
const PAGE_BYTES = 2 * 1_024 * 1_024;
const MESSAGE_BYTES = 1_024 * 1_024;
const FIRST_BYTES = 128 * 1_024;
/** What the contract admits, near enough: 100 job titles of 200 characters, and 100 units. */
const LARGEST_BYTES = 126_000;
const ORDINARY_BYTES = 1_200;
/** More than a page may take. */
const LONG_MS = 11_000;

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway();
});

afterEach(async () => {
  jest.restoreAllMocks();
  await gateway.stop();
});

/** A list of workers of one size. It begins with a row, and goes on in messages of about a MiB. */
function listed(bytes: number, count = LIMIT, perMessage = Math.floor(MESSAGE_BYTES / bytes)) {
  const phone = 'x'.repeat(bytes - bytesOf(aWorkerV2()).length);
  const rows = Array.from({ length: count }, () => aWorkerV2({ phone }));
  const told = { rests: 0, messages: 0, goneAfter: Number.POSITIVE_INFINITY, saysWhere: true };
  const { told: over, tell } = signalled();
  gateway.program({
    read: async ({ cursor, limit = LIMIT }) => {
      const next = Number(cursor ?? 0) + 1;
      const first = firstOf('v1', rows.slice(next - 1, next));
      return next < count ? { ...first, rest: { cursor: `${next}`, limit: limit - 1 } } : first;
    },
    readRest: async function* ({ rest }) {
      told.rests += 1;
      try {
        for (let from = Number(rest?.cursor); from < count; from += perMessage) {
          if (told.messages >= told.goneAfter * told.rests) {
            throw new ServiceError(ErrorCode.UNAVAILABLE, 'It is gone.');
          }
          told.messages += 1;
          const next = from + perMessage;
          const after = next < count && told.saysWhere ? { cursor: `${next}` } : undefined;
          yield { body: bytesOf(rows.slice(from, next)), rest: after };
        }
      } finally {
        tell();
      }
    },
  });
  return { ids: rows.map(({ id }) => id), told, over };
}

async function page(target: string) {
  const { status, body, headers } = await gateway.ask(OPERATION.operationId, target);
  const query = /\?([^>]+)>; rel="next"/.exec(headers.link?.toString() ?? '')?.[1];
  const ids = (JSON.parse(body) as { id: string }[]).map(({ id }) => id);
  return { status, bytes: body.length, ids, next: query && `${PATH}?${query}` };
}

test('a page of the largest records is bounded in bytes, and its links lead through all of them', async () => {
  const { ids } = listed(LARGEST_BYTES, 100);
  const read: string[] = [];
  let target: string | undefined = `${PATH}?limit=${LIMIT}`;
  while (target) {
    const one: Awaited<ReturnType<typeof page>> = await page(target);
    expect(one.bytes).toBeLessThan(PAGE_BYTES + MESSAGE_BYTES + FIRST_BYTES);
    read.push(...one.ids);
    target = one.next;
  }
  expect(read).toEqual(ids);
});

test('a page counts as an unread answer of its integration while it is gathered', async () => {
  listed(LARGEST_BYTES, 100);
  const count = jest.spyOn(UnsentAnswers.prototype, 'add');
  const { bytes } = await page(`${PATH}?limit=${LIMIT}`);
  const counted = count.mock.calls.map(([, owner, size]) => [owner, size]);
  expect(counted.length).toBeGreaterThanOrEqual(3);
  expect(counted.map(([owner]) => owner)).toEqual(counted.map(() => 'itg_1'));
  expect(bytes - Number(counted[2]?.[1])).toBeLessThan(FIRST_BYTES);
});

test('a page ends where the edge has no room for more, and its links lead through all records', async () => {
  const { ids } = listed(LARGEST_BYTES, 30, 5);
  const room = jest.spyOn(UnsentAnswers.prototype, 'hasRoomFor').mockReturnValue(false);
  const first = await page(`${PATH}?limit=${LIMIT}`);
  // The first row, and the message that took the last room.
  expect(first.ids).toEqual(ids.slice(0, 6));
  room.mockRestore();
  const read = first.ids;
  let target = first.next;
  while (target) {
    const one: Awaited<ReturnType<typeof page>> = await page(target);
    read.push(...one.ids);
    target = one.next;
  }
  expect(read).toEqual(ids);
});

test('a page of records of an ordinary size has as many as it was asked for', async () => {
  const { ids } = listed(ORDINARY_BYTES);
  expect(await page(`${PATH}?limit=${LIMIT}`)).toMatchObject({ status: 200, ids, next: undefined });
});

test('a page is bounded also where each message comes from another domain', async () => {
  const { told, ids } = listed(LARGEST_BYTES);
  told.goneAfter = 1;
  const { bytes, ids: read } = await page(`${PATH}?limit=${LIMIT}`);
  expect(bytes).toBeLessThan(PAGE_BYTES + MESSAGE_BYTES + FIRST_BYTES);
  expect([read, told.rests]).toEqual([ids.slice(0, read.length), 3]);
});

test('a page of a domain that does not say where it goes on is whole', async () => {
  const { told, ids } = listed(LARGEST_BYTES, 50);
  told.saysWhere = false;
  expect((await page(`${PATH}?limit=${LIMIT}`)).ids).toEqual(ids);
});

/** So much time passes before the first message after the first row. */
function delayFirst(told: { messages: number }, passMs: number) {
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + (told.messages > 0 ? passMs : 0));
}

test('a page that takes long ends early, and its links lead through all records', async () => {
  const { told, ids } = listed(ORDINARY_BYTES, 50, 1);
  delayFirst(told, LONG_MS);
  const first = await page(`${PATH}?limit=${LIMIT}`);
  expect(first.ids).toEqual(ids.slice(0, first.ids.length));
  expect(first.ids.length).toBeLessThan(ids.length);
  expect(await page(first.next as string)).toMatchObject({
    ids: ids.slice(first.ids.length),
    next: undefined,
  });
});

test('a page that takes long is whole where the domain does not say where it goes on', async () => {
  const { told, ids } = listed(ORDINARY_BYTES, 50, 1);
  told.saysWhere = false;
  delayFirst(told, LONG_MS);
  expect(await page(`${PATH}?limit=${LIMIT}`)).toMatchObject({ ids, next: undefined });
});

test('a list without a limit is whole, however large', async () => {
  const { ids } = listed(LARGEST_BYTES, 100);
  expect(await page(PATH)).toMatchObject({ ids, next: undefined });
});

test('a page is gathered no further once its client has left', async () => {
  const { told: held, tell: letGo } = signalled();
  const { told: underWay, tell: asked } = signalled();
  const { told: over, tell } = signalled();
  let messages = 0;
  gateway.program({
    read: async () => firstOf('v1', [aWorkerV2()], { hasRest: true }),
    readRest: async function* () {
      try {
        for (; messages < LIMIT; messages += 1) {
          yield { body: bytesOf([aWorkerV2()]), rest: { cursor: `${messages}` } };
          if (messages === 1) {
            asked();
            await held;
          }
        }
      } finally {
        tell();
      }
    },
  });
  const headers = { 'x-api-key': gateway.key, 'x-request-id': 'gathered' };
  slowReader(gateway.port, `${PATH}?limit=${LIMIT}`, headers).catch(() => undefined);
  await underWay;
  gateway.dropClients();
  letGo();
  await over;
  const line = await gateway.nextLine(({ msg, requestId }) => msg === 'request' && requestId === 'gathered');
  expect(line).toMatchObject({ level: 'info', status: 499, code: 'client_left' });
  expect(messages).toBeLessThan(LIMIT / 2);
});

import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { newApiKey } from '../../../src/identifiers/api-key.js';
import { newPublicId } from '../../../src/identifiers/public-id.js';
import type { CallContext } from '../../../src/rpc/handlers.js';
import { fakeTimeouts } from '../../support/fake-timeouts.js';
import { answering, aWorker, bytesOf, firstOf, headerAt } from '../../support/gateway/directory-answers.js';
import { type Gateway, startGateway } from '../../support/gateway/gateway.js';
import { operationNamed, pathOf } from '../../support/gateway/operations.js';
import { signalled } from '../../support/signalled.js';
import { slowReader } from '../../support/slow-reader.js';
import { untilStill } from '../../support/until-still.js';

const OPERATION = operationNamed('listWorkers');
const PATH = pathOf(OPERATION);
const PAGE_ROWS = 250;
const LISTS_PER_KEY = 64;

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway();
});

afterEach(() => gateway.stop());

const pageOf = (count: number) => Array.from({ length: count }, () => aWorker());

/** Programs a list whose rest is made by the test, and tells when the domain is done with it. */
function listing(make: (call: CallContext) => AsyncIterable<object>, first = async () => pageOf(1)) {
  const { told: over, tell } = signalled();
  gateway.program({
    read: async () => firstOf('v1', await first(), { hasRest: true }),
    readRest: async function* (_, call) {
      try {
        for await (const page of make(call)) {
          yield { body: bytesOf(page) };
        }
      } finally {
        tell();
      }
    },
  });
  return { over };
}

async function* endless(counted?: () => void) {
  for (;;) {
    counted?.();
    yield pageOf(PAGE_ROWS);
  }
}

const reader = () => slowReader(gateway.port, PATH, { 'x-api-key': gateway.key, 'x-request-id': 'streamed' });
const lineOf = (requestId: string) =>
  gateway.nextLine((line) => line.msg === 'request' && line.requestId === requestId);
const errors = () => gateway.lines().filter(({ level }) => level === 'error');

test('a list in one message is answered whole, and its rest is not asked for', async () => {
  const rows = pageOf(PAGE_ROWS);
  let restsAsked = 0;
  gateway.program({
    ...answering('v1', [rows]),
    readRest: async function* () {
      restsAsked += 1;
      yield { body: bytesOf([]) };
    },
  });
  const answer = await gateway.ask(OPERATION.operationId, PATH);
  expect([answer.body, restsAsked]).toEqual([JSON.stringify(rows), 0]);
  expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.body)));
});

describe('a list in several messages', () => {
  test.each([
    { sizes: [2, 2] },
    { sizes: [3, 1, 2] },
    { sizes: [1, 0, 1] },
    { sizes: [0, 2, 1] },
    { sizes: [0, 0] },
    { sizes: [1, 1, 0] },
  ])('of $sizes rows is one array of all of them, in order', async ({ sizes }) => {
    const pages = sizes.map(pageOf);
    gateway.program(answering('v1', pages));
    const answer = await gateway.ask(OPERATION.operationId, PATH);
    const ids = (JSON.parse(answer.body) as { id: string }[]).map(({ id }) => id);
    expect(ids).toEqual(pages.flat().map(({ id }) => id));
    expect(answer.headers).toMatchObject({
      'transfer-encoding': 'chunked',
      'content-type': 'application/json',
      etag: expect.any(String),
    });
    expect(answer.headers['content-length']).toBeUndefined();
  });

  test('HEAD has its headers and no body, and asks the domain for no more', async () => {
    const { over } = listing(() => endless());
    const answer = await gateway.ask(OPERATION.operationId, PATH, { method: 'HEAD' });
    expect([answer.status, answer.body]).toEqual([200, '']);
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json', etag: expect.any(String) });
    expect(answer.headers['content-length']).toBeUndefined();
    await over;
    expect(errors()).toEqual([]);
  });
});

describe('a client that goes away', () => {
  // The time that a list waits for the domain would end the call too.
  beforeEach(() => {
    fakeTimeouts();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test('before it has read all ends the call, and is no error', async () => {
    const { over } = listing(() => endless());
    const { read, leave } = await reader();
    await read();
    leave();
    await over;
    expect(await lineOf('streamed')).toMatchObject({ level: 'info', status: 200, code: 'client_left' });
    expect(errors()).toEqual([]);
  });

  test('while the domain is at work on the next page ends the call', async () => {
    const { over } = listing(async function* ({ signal }) {
      yield pageOf(1);
      await once(signal, 'abort');
    });
    const { read, leave } = await reader();
    await read();
    leave();
    await over;
    expect(await lineOf('streamed')).toMatchObject({ level: 'info', code: 'client_left' });
  });

  test.each(['listWorkers', 'getOrganizationStructure', 'listChanges'])(
    'while the domain is at work on the first message of %s ends the call',
    async (operationId) => {
      const { told: underWay, tell: asked } = signalled();
      const { told: over, tell } = signalled();
      gateway.program({
        read: async (_, { signal }) => {
          asked();
          await once(signal, 'abort');
          tell();
          return firstOf('v1', []);
        },
      });
      const headers = { 'x-api-key': gateway.key, 'x-request-id': 'first' };
      slowReader(gateway.port, pathOf(operationNamed(operationId)), headers).catch(() => undefined);
      await underWay;
      gateway.dropClients();
      await over;
      const left = { level: 'info', operation: operationId, status: 499, code: 'client_left' };
      expect(await lineOf('first')).toMatchObject(left);
      expect(gateway.lines().filter(({ level }) => level !== 'info')).toEqual([]);
    },
  );

  test.each(['listWorkersV2?limit=9', 'listWorkers', 'getOrganizationStructure'])(
    'while the domain is at work on the second message of %s ends the call',
    async (called) => {
      const [operationId = '', query = ''] = called.split('?');
      const { told: underWay, tell: asked } = signalled();
      const { over } = listing(async function* ({ signal }) {
        asked();
        await once(signal, 'abort');
        yield [];
      });
      const headers = { 'x-api-key': gateway.key, 'x-request-id': 'second' };
      const target = `${pathOf(operationNamed(operationId))}?${query}`;
      slowReader(gateway.port, target, headers).catch(() => undefined);
      await underWay;
      gateway.dropClients();
      await over;
      const left = { level: 'info', operation: operationId, status: 499, code: 'client_left' };
      expect(await lineOf('second')).toMatchObject(left);
      expect(gateway.lines().filter(({ level }) => level !== 'info')).toEqual([]);
    },
  );
});

describe('an error after the first pages', () => {
  const failing = (then = Promise.resolve(), error = new Error('canary: the disk is gone')) =>
    listing(async function* () {
      yield pageOf(2 * PAGE_ROWS);
      await then;
      throw error;
    });

  test('cuts the connection, so that half is never taken for whole, and is logged once', async () => {
    failing();
    const { response, read } = await reader();
    const readAll = async () => {
      while ((await read()) !== undefined) {}
    };
    await expect(readAll()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(response.complete).toBe(false);
    expect(await lineOf('streamed')).toMatchObject({ level: 'error', status: 500, operation: 'listWorkers' });
    expect(errors().map(({ msg }) => msg)).toEqual(['request could not be answered', 'request']);
    expect(gateway.text()).not.toContain('canary');
  });

  test('that refuses to go on cuts it too, and is logged under its code, as no fault', async () => {
    failing(undefined, new ServiceError(ErrorCode.API_KEY_UNKNOWN, 'The API key is not known.'));
    const { read } = await reader();
    const readAll = async () => {
      while ((await read()) !== undefined) {}
    };
    await expect(readAll()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await lineOf('streamed')).toMatchObject({ level: 'info', code: 'api_key_unknown' });
    expect(errors()).toEqual([]);
  });

  test('cuts it also for HTTP/1.0, which takes a closed connection for the end', async () => {
    const { told, tell: hasRead } = signalled();
    failing(told);
    const socket = connect(gateway.port, '127.0.0.1');
    let received = '';
    socket.setEncoding('utf8').on('data', (text) => {
      received += text;
      // Node takes a reset for the end of what it has not read yet.
      if (received.split('"id"').length > 2 * PAGE_ROWS && received.endsWith('}')) {
        hasRead();
      }
    });
    socket.write(`GET ${PATH} HTTP/1.0\r\nhost: x\r\nx-api-key: ${gateway.key}\r\n\r\n`);
    await expect(once(socket, 'close')).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('in the second page already is an answer like any other', async () => {
    listing(() => {
      throw new Error('canary');
    });
    expect((await gateway.ask(OPERATION.operationId, PATH)).status).toBe(500);
  });
});

describe('a domain that ends a list after its first pages', () => {
  /** Pages of one row each. A domain is gone after so many of them, and the next one goes on. */
  function listed(
    pages: number,
    goneAfter: readonly number[],
    { saysWhere = true, code = ErrorCode.UNAVAILABLE } = {},
  ) {
    const rows = pageOf(pages);
    const asked: (string | undefined)[] = [];
    gateway.program({
      read: async () => firstOf('v1', rows.slice(0, 1), { hasRest: true }),
      readRest: async function* ({ rest }) {
        const from = rest?.cursor === 'rest' ? 1 : Number(rest?.cursor);
        const until = goneAfter[asked.length] ?? pages;
        asked.push(rest?.cursor);
        for (let next = from; next < until; next += 1) {
          const after = next + 1 < pages && saysWhere ? { cursor: `${next + 1}` } : undefined;
          yield { body: bytesOf(rows.slice(next, next + 1)), rest: after };
        }
        if (until < pages) {
          throw new ServiceError(code, 'It is gone.');
        }
      },
    });
    const ids = (body: string) => (JSON.parse(body) as { id: string }[]).map(({ id }) => id);
    return { asked, ids, all: rows.map(({ id }) => id) };
  }

  test.each([
    ['stops', ErrorCode.UNAVAILABLE],
    ['has revoked the earlier token of the edge', ErrorCode.SERVICE_TOKEN_INVALID],
  ])(
    'because it %s is not noticed: the list goes on after the last page, as often as pages arrive',
    async (_, code) => {
      const { asked, ids, all } = listed(9, [1, 3, 4, 7], { code });
      const answer = await gateway.ask(OPERATION.operationId, PATH);
      expect(ids(answer.body)).toEqual(all);
      expect(asked).toEqual(['rest', 'rest', '3', '4', '7']);
      expect(errors()).toEqual([]);
    },
  );

  test('cuts the connection if the next one is gone too', async () => {
    const { asked } = listed(9, [3, 3]);
    const { read } = await reader();
    const readAll = async () => {
      while ((await read()) !== undefined) {}
    };
    await expect(readAll()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(asked).toEqual(['rest', '3']);
  });

  test('in the second page already is a 503 if the next one is gone too', async () => {
    const { asked } = listed(9, [1, 1]);
    expect((await gateway.ask(OPERATION.operationId, PATH)).status).toBe(503);
    expect(asked).toEqual(['rest', 'rest']);
  });

  test('cuts the connection if it did not say where the list goes on, as one of an earlier release', async () => {
    const { asked } = listed(9, [3], { saysWhere: false });
    const { read } = await reader();
    const readAll = async () => {
      while ((await read()) !== undefined) {}
    };
    await expect(readAll()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(asked).toEqual(['rest']);
  });
});

describe('a resource in pieces', () => {
  const { operationId } = operationNamed('getOrganizationStructure');
  const path = pathOf(operationNamed(operationId));
  const unitsTypes = [{ id: newPublicId('UnitTypeId'), name: 'é'.repeat(5_000) }];
  const json = JSON.stringify({ unitsTypes, units: [], locations: [] });
  const bytes = Buffer.from(json);

  /** The domain sends so many bytes of it, 1,001 at a time, and fails if more remain. */
  function inPieces(until = bytes.length) {
    gateway.program({
      read: async () => ({ header: headerAt('v1'), body: Buffer.alloc(0), rest: { cursor: '' } }),
      readRest: async function* () {
        for (let from = 0; from < until; from += 1_001) {
          yield { body: bytes.subarray(from, from + 1_001) };
        }
        if (until < bytes.length) {
          throw new ServiceError(ErrorCode.UNAVAILABLE, 'It is gone.');
        }
      },
    });
  }

  test('is one body of all of them, in order', async () => {
    inPieces();
    const answer = await gateway.ask(operationId, path);
    expect([answer.status, answer.body]).toEqual([200, json]);
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json', etag: expect.any(String) });
  });

  test('is a 503 if the domain is gone before the first', async () => {
    inPieces(0);
    expect((await gateway.ask(operationId, path)).status).toBe(503);
  });

  test('is cut if the domain is gone before the last, and never begun again', async () => {
    inPieces(3_000);
    await expect(gateway.ask(operationId, path)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});

describe('a domain that is silent for longer than a connection may be', () => {
  /** Long enough for a busy machine, on which a connection is not read at once. */
  const STALL_MS = 3_000;
  const structure = { unitsTypes: [], units: [], locations: [] };

  const SILENCES = [
    { before: 'the second page of a list', operationId: 'listWorkers', query: '', first: '[]', rest: '[]' },
    { before: 'the rest of a page', operationId: 'listUsers', query: '?limit=9', first: '[]', rest: '[]' },
    {
      ...{ before: 'a large resource', operationId: 'getOrganizationStructure', query: '' },
      ...{ first: '', rest: JSON.stringify(structure) },
    },
  ];
  const answerAfter = async ({ before, operationId, query, first, rest }: (typeof SILENCES)[number]) => {
    const impatient = await startGateway('demo', { stallTimeoutMs: STALL_MS });
    try {
      impatient.program({
        read: async () => ({ header: headerAt('v1'), body: Buffer.from(first), rest: { cursor: 'rest' } }),
        readRest: async function* () {
          await sleep(2 * STALL_MS);
          yield { body: Buffer.from(rest) };
        },
      });
      const { status, body } = await impatient.ask(operationId, pathOf(operationNamed(operationId)) + query);
      return { before, status, body };
    } finally {
      await impatient.stop();
    }
  };

  // At once, because each of them is only waited for.
  test('is waited for before the second page of a list, the rest of a page, and a large resource', async () => {
    expect(await Promise.all(SILENCES.map(answerAfter))).toEqual(
      SILENCES.map(({ before, rest }) => ({ before, status: 200, body: rest })),
    );
  });

  test('is waited for by a list that has waited for a place of its key', async () => {
    const impatient = await startGateway('demo', { stallTimeoutMs: STALL_MS });
    const [full, begun, released] = [signalled(), signalled(), signalled()];
    let reads = 0;
    impatient.program({
      read: async () => {
        reads += 1;
        if (reads === LISTS_PER_KEY) {
          full.tell();
        }
        if (reads !== LISTS_PER_KEY + 1) {
          await new Promise(() => undefined);
        }
        begun.tell();
        await released.told;
        return firstOf('v1', pageOf(1));
      },
    });
    const ask = (headers = {}) => impatient.ask('listWorkers', PATH, { headers });
    try {
      const cut = Array.from({ length: LISTS_PER_KEY }, () => ask().catch((error: Error) => error));
      await full.told;
      const waiting = ask();
      await Promise.all([begun.told, ...cut]);
      // As long as a connection may be silent.
      await expect(ask({ 'x-api-key': newApiKey('demo') })).rejects.toMatchObject({ code: 'ECONNRESET' });
      released.tell();
      expect((await waiting).status).toBe(200);
    } finally {
      await impatient.stop();
    }
  });
});

describe('a reader that is slow', () => {
  test('holds up the domain: it makes no page that is not read', async () => {
    let made = 0;
    const { over } = listing(() => endless(() => (made += 1)));
    const { read, leave } = await reader();
    await read();
    // The domain stops when the buffers between it and the reader are full.
    await untilStill('the domain', () => made);
    expect(made * PAGE_ROWS).toBeLessThan(50_000);
    leave();
    await over;
  });

  test('of 600,000 rows does not make memory grow', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const used = () => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return (heapUsed + external) / 2 ** 20;
    };
    const page = pageOf(PAGE_ROWS);
    listing(async function* () {
      for (let made = 0; made < 600_000; made += PAGE_ROWS) {
        yield page;
      }
    });
    const { read } = await reader();
    const atFirst = used();
    let [most, bytes, pieces] = [0, 0, 0];
    for (let piece = await read(); piece !== undefined; piece = await read()) {
      bytes += piece.length;
      pieces += 1;
      // Only reading empties what is buffered, so more than the limit would be there at several looks.
      if (pieces % 500 === 0) {
        most = Math.max(most, used() - atFirst);
      }
    }
    expect(bytes / 2 ** 20).toBeGreaterThan(150);
    // What is between here and there, and what sockets have read ahead: about 70 on some machines.
    expect(most).toBeLessThan(100);
  });
});

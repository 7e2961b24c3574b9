import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  answering,
  aWorker,
  bytesOf,
  firstOf,
  instanceIntegrationsAt,
} from '../../support/gateway/directory-answers.js';
import { type Gateway, startGateway } from '../../support/gateway/gateway.js';
import { operationNamed, pathOf } from '../../support/gateway/operations.js';
import { signalled } from '../../support/signalled.js';

const PATH = pathOf(operationNamed('listWorkers'));

let gateway: Gateway;

beforeEach(async () => {
  gateway = await startGateway();
});

afterEach(() => gateway.stop());

const page = Array.from({ length: 100 }, () => aWorker());

/** A list whose rest is made by the test. */
function listing(rest: () => AsyncIterable<object[]>): void {
  gateway.program({
    read: async () => firstOf('v1', page, { hasRest: true }),
    readRest: async function* () {
      for await (const rows of rest()) {
        yield { body: bytesOf(rows) };
      }
    },
  });
}

/** Decompresses, as clients do. */
const fetched = (headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`http://127.0.0.1:${gateway.port}${PATH}`, {
    method,
    headers: { 'x-api-key': gateway.key, 'accept-encoding': 'gzip', ...headers },
  });

describe('a client that accepts gzip', () => {
  test.each([
    ['one page', 1],
    ['many pages', 40],
  ])('gets a list of %s compressed, and the same rows', async (_, count) => {
    gateway.program(answering('v1', Array(count).fill(page)));
    const answer = await fetched();
    const plain = await fetched({ 'accept-encoding': 'identity' });
    expect([answer.headers.get('content-encoding'), plain.headers.get('content-encoding')]).toEqual([
      'gzip',
      null,
    ]);
    const body = await answer.text();
    expect(JSON.parse(body)).toHaveLength(count * page.length);
    expect(body).toBe(await plain.text());
    expect(answer.headers.get('vary')).toBe('x-api-key, Accept-Encoding');
  });

  test('gets a tag of its own, and 304 for that and for the plain one', async () => {
    gateway.program(answering('v1', [page]));
    const zipped = (await fetched()).headers.get('etag') ?? '';
    const plain = (await fetched({ 'accept-encoding': 'identity' })).headers.get('etag') ?? '';
    expect(zipped).toBe(plain.replace(/"$/, '.gz"'));
    for (const tag of [zipped, plain]) {
      const { status, headers } = await fetched({ 'if-none-match': tag });
      expect([status, headers.get('etag')]).toEqual([304, tag]);
    }
    // It would answer for a plain copy that the client never had.
    const later = await fetched({ 'accept-encoding': 'identity', 'if-none-match': zipped });
    expect([later.status, later.headers.get('etag')]).toEqual([200, plain]);
  });

  test('gets short answers and problems as they are', async () => {
    gateway.program(instanceIntegrationsAt('v1'));
    const short = await fetch(`http://127.0.0.1:${gateway.port}/v1/instance-integrations`, {
      headers: { 'x-api-key': gateway.key },
    });
    expect([short.headers.get('content-encoding'), await short.json()]).toEqual([null, []]);
    const refused = await fetched({ 'x-api-key': 'none' });
    expect([refused.headers.get('content-encoding'), refused.status]).toEqual([null, 401]);
  });

  test.each([1, 40])('gets the header of GET for HEAD of a list of %i pages', async (count) => {
    gateway.program(answering('v1', Array(count).fill(page)));
    const answer = await fetched({}, 'HEAD');
    expect([answer.headers.get('content-encoding'), await answer.text()]).toEqual(['gzip', '']);
  });

  test('sees that a list broke off, and the domain is done with it', async () => {
    const { told: released, tell: isReleased } = signalled();
    listing(async function* () {
      try {
        yield page;
        yield page;
        throw new Error('canary');
      } finally {
        isReleased();
      }
    });
    await expect(fetched().then((answer) => answer.text())).rejects.toThrow();
    await released;
  });

  test('gets the third list of an integration at once as it is, and again a compressed one later', async () => {
    const { told: finished, tell: finish } = signalled();
    listing(async function* () {
      yield page;
      await finished;
    });
    const answers = [await fetched(), await fetched(), await fetched()];
    expect(answers.map(({ headers }) => headers.get('content-encoding'))).toEqual(['gzip', 'gzip', null]);
    finish();
    const rows = await Promise.all(answers.map((answer) => answer.json() as Promise<unknown[]>));
    expect(rows.map(({ length }) => length)).toEqual([200, 200, 200]);
    expect((await fetched()).headers.get('content-encoding')).toBe('gzip');
  });

  test('ends the list when it leaves', async () => {
    const { told: released, tell: isReleased } = signalled();
    listing(async function* () {
      try {
        for (;;) {
          yield page;
        }
      } finally {
        isReleased();
      }
    });
    const answer = await fetched();
    await answer.body?.cancel();
    await released;
  });
});

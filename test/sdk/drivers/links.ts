import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../../src/config/package.js';
import type { Driven } from './line-driver.js';
import {
  type Answer,
  hangUp,
  json,
  page,
  problem,
  type ScriptedServer,
  scriptedServers,
  silence,
} from './scripted-server.js';
import { DOCUMENTED, examples, parametersOf, signed } from './signed-requests.js';

interface Operation {
  operationId: string;
  responses: { 200: { content: { 'application/json': { examples: Record<string, { value: object }> } } } };
}

const contract = JSON.parse(readFileSync(join(packageRoot, 'generated/openapi/gateway.json'), 'utf8')) as {
  paths: Record<string, { get: Operation }>;
};

/** What the contract says of a path: the read that is made for it, its ids, and an example of the answer. */
function documented(path: string): { method: string; ids: string[]; example: object } {
  for (const [template, { get }] of Object.entries(contract.paths)) {
    const [, ...ids] = new RegExp(`^${template.replace(/\{\w+\}/g, '([^/]+)')}$`).exec(path) ?? [];
    if (ids.length > 0) {
      const [{ value: example } = { value: {} }] = Object.values(
        get.responses[200].content['application/json'].examples,
      );
      return {
        method: get.operationId.replace(/V2$|^get(?=Organization)/, '').replace(/^O/, 'o'),
        ids,
        example,
      };
    }
  }
  throw new Error(`${path} is no path of the contract.`);
}

const PATH = '/v1/instance-integrations/iin_1/clients/cli_1';

/** Following links, over a gateway of the test with a path, as behind a proxy. */
export function describeLinks(driver: Driven): void {
  const newServer = scriptedServers();
  let server: ScriptedServer;
  let stranger: ScriptedServer;
  beforeAll(async () => {
    [server, stranger] = [await newServer(), await newServer()];
  });
  const options = (more: Record<string, unknown> = {}) => ({
    baseUrl: `${server.url}/gateway`,
    retry: { baseDelaySeconds: 0.001 },
    ...more,
  });
  const follow = (link: string, more: Record<string, unknown> = {}) =>
    driver.sdk.gateway(options(), 'follow', [link], more);

  describe('the link of an event', () => {
    test.each(examples.map((example) => [example.payload.type, example] as const))(
      'of type %s leads to the record that the contract says',
      async (_, { payload, headers }) => {
        const link = payload.data.links.self;
        const { method, ids, example } = documented(link);
        server.answers(json(example, { etag: '"7"' }));
        const request = { body: Buffer.from(JSON.stringify(payload)), headers };
        const nowSeconds = Number(headers['webhook-timestamp']);
        const event = parametersOf(request, [DOCUMENTED], { nowSeconds });
        const followed = await driver.sdk.follow(options(), event);
        expect(followed).toMatchObject({ value: expect.anything() });
        expect(server.asked[0]?.path).toBe(`/gateway${link}`);
        expect(followed).toEqual(await driver.sdk.gateway(options(), method, ids));
        expect(server.asked[1]?.path).toBe(`/gateway${link}`);
        const again = await driver.sdk.follow(options(), event, { ifChanged: null });
        expect(again.value).toEqual({ changed: true, etag: '"7"', data: followed.value });
      },
    );

    test('that leads to another server is not followed, though it is signed', async () => {
      stranger.answers(json({}));
      const [{ payload }] = examples as [(typeof examples)[0]];
      const evil = { ...payload, data: { ...payload.data, links: { self: `${stranger.url}${PATH}` } } };
      const event = parametersOf(signed({ body: JSON.stringify(evil) }));
      expect((await driver.sdk.follow(options(), event)).error).toMatchObject({ name: 'ValueError' });
      expect(stranger.asked).toHaveLength(0);
    });
  });

  describe('a link by itself', () => {
    test.each([
      ['a path', () => PATH, PATH],
      ['a path with a query', () => `${PATH}?limit=2&cursor=a%2Fb`, `${PATH}?limit=2&cursor=a%2Fb`],
      ['an address below the base URL', () => `${server.url}/gateway${PATH}`, PATH],
    ])('%s gives the JSON as it came', async (_, link, path) => {
      const answer = { id: 'cli_1', createdAt: '2026-06-11T16:02:19.350Z', added: [null] };
      server.answers(json(answer));
      const { value } = await follow(link(), { requestId: 'req-7' });
      expect(value).toEqual(answer);
      expect(server.asked[0]).toMatchObject({
        method: 'GET',
        path: `/gateway${path}`,
        headers: {
          accept: expect.stringContaining('application/json'),
          'x-api-key': 'ik_demo_key',
          'x-request-id': 'req-7',
          'user-agent': expect.stringMatching(/^integration-service-sdk-/),
        },
      });
    });

    test('says that nothing changed to who holds its ETag', async () => {
      server.answers((response) => response.writeHead(304).end());
      expect((await follow(PATH, { ifChanged: '"7"' })).value).toEqual({ changed: false, etag: '"7"' });
      expect(server.asked[0]?.headers['if-none-match']).toBe('"7"');
    });

    test.each<[string, Answer[]]>([
      ['a lost connection', [hangUp]],
      ['503 and the page of a proxy', [problem(503, 'unavailable'), page(502)]],
    ])('%s is tried again', async (_, failures) => {
      server.answers(...failures, json({ id: 'cli_1' }));
      expect((await follow(PATH)).value).toEqual({ id: 'cli_1' });
      expect(server.asked).toHaveLength(failures.length + 1);
    });

    test.each<[string, Answer, object]>([
      ['what is gone', problem(404, 'client_not_found'), { status: 404, code: 'client_not_found' }],
      ['a redirect', page(302, { location: '/elsewhere' }), { status: 302, code: 'unexpected_response' }],
      ['a page', page(200), { status: 200, code: 'unexpected_response' }],
    ])('to %s is an ApiError', async (_, answer, expected) => {
      server.answers(answer);
      expect((await follow(PATH)).error).toMatchObject({ name: 'ApiError', ...expected });
      expect(server.asked).toHaveLength(1);
    });

    test('to an address without a server is a TimeoutError', async () => {
      server.answers(silence);
      const asked = driver.sdk.gateway(options({ timeoutSeconds: 0.25 }), 'follow', [PATH]);
      expect((await asked).error).toMatchObject({ name: 'TimeoutError' });
    });
  });

  describe('a link that must not get the key', () => {
    const host = (from: ScriptedServer) => new URL(from.url).host;

    test.each<[string, () => string]>([
      ['another port', () => `${stranger.url}/gateway${PATH}`],
      ['another server by its name', () => `http://localhost:${new URL(stranger.url).port}/gateway${PATH}`],
      ['another protocol', () => `https://${host(server)}/gateway${PATH}`],
      ['a protocol-relative address', () => `//${host(stranger)}${PATH}`],
      ['a protocol-relative address of three slashes', () => `///${host(stranger)}${PATH}`],
      ['a name and password', () => `http://user:password@${host(server)}/gateway${PATH}`],
      ['the base URL as a name', () => `${server.url}@${host(stranger)}/gateway${PATH}`],
      ['the base URL, path and all, as a name', () => `${server.url}/gateway@${host(stranger)}${PATH}`],
      ['what goes on after the base URL', () => `@${host(stranger)}${PATH}`],
      ['a port that begins alike', () => `${server.url}0/gateway${PATH}`],
      ['a longer name', () => `.evil.example.com${PATH}`],
      ['a neighbour of the base path', () => `${server.url}/gateway-evil${PATH}`],
      ['what is above the base path', () => `${server.url}${PATH}`],
      ['a way up', () => '/../admin'],
      ['a way up in the middle', () => `${PATH}/../../../../../../admin`],
      ['a way up in a whole address', () => `${server.url}/gateway/../admin`],
      ['an encoded way up', () => '/v1/%2e%2e/%2E%2E/admin'],
      ['an encoded way up, slashes and all', () => '/v1/..%2f..%2fadmin'],
      ['a way up with a parameter', () => '/v1/..;/..;/admin'],
      ['a backslash for the second slash', () => `/\\${host(stranger)}${PATH}`],
      ['backslashes', () => `\\\\${host(stranger)}${PATH}`],
      ['backslashes after the protocol', () => `http:\\\\${host(stranger)}${PATH}`],
      ['a backslash before a way up', () => '/v1\\..\\..\\admin'],
      ['a tab between slashes', () => `/\t/${host(stranger)}${PATH}`],
      ['the end of a line before it', () => `\n//${host(stranger)}${PATH}`],
      ['the end of a line after it', () => `${PATH}\n`],
      ['a header in it', () => `${PATH}\r\nx-evil: 1`],
      ['white space before it', () => ` ${stranger.url}${PATH}`],
      ['a fragment', () => `${PATH}#@${host(stranger)}`],
      ['a solidus of another script', () => `/\u2215${host(stranger)}${PATH}`],
      ['a relative path', () => PATH.slice(1)],
      ['something that is no address', () => 'javascript:alert(1)'],
      ['nothing', () => ''],
    ])('is refused: %s', async (_, link) => {
      for (const each of [server, stranger]) {
        each.answers(json({}));
      }
      expect((await follow(link())).error).toMatchObject({ name: 'ValueError' });
      expect([...server.asked, ...stranger.asked]).toEqual([]);
    });
  });
}

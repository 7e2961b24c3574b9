import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/config/package.js';
import { documentedRequests } from '../contract/documented-requests.js';
import { AnswerJudge } from '../support/contract/answer-judge.js';
import { freePorts } from '../support/free-ports.js';
import { exchange } from '../support/http-exchange.js';
import { listenOnLoopback } from '../support/loopback.js';
import { OutputLines } from '../support/output-lines.js';
import { type MockPorts, mockedDocument, mockNames } from './mock-servers.js';

/** As `make mock` starts it. */
function startMocks(env: Record<string, string>) {
  return spawn(process.execPath, ['--import', 'tsx', 'test/mock/main.ts'], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

const settingsOf = (ports: MockPorts) => ({
  MOCK_GATEWAY_PORT: String(ports.gateway),
  MOCK_SIGN_ON_PORT: String(ports['sign-on']),
});

describe('the mocks', () => {
  const output = new OutputLines();
  const errors = new OutputLines();
  let ports: MockPorts;
  let mocks: ReturnType<typeof startMocks>;

  beforeAll(async () => {
    const [gateway = 0, signOn = 0] = await freePorts(2);
    ports = { gateway, 'sign-on': signOn };
    mocks = startMocks(settingsOf(ports));
    output.read(mocks.stdout);
    errors.read(mocks.stderr);
    await output.nextText('Ctrl-C ends both.');
  });

  afterAll(() => {
    mocks.kill('SIGKILL');
  });

  const ofName = (name: (typeof mockNames)[number]) => ({
    requests: documentedRequests(mockedDocument(name, ports)),
    judge: new AnswerJudge(name),
  });

  test.each(mockNames)('%s: every operation answers its success as documented', async (name) => {
    const { requests, judge } = ofName(name);
    expect(requests.map(({ operationId }) => operationId)).toEqual(
      judge.operations().map(({ operationId }) => operationId),
    );
    const ended = requests.map(async ({ operationId, target, question, success }) => {
      const answer = await exchange(ports[name], target, question);
      return [operationId, answer.status - success, answer.headers['sl-violations'], bodyFaults(answer.body)];
    });
    expect(await Promise.all(ended)).toEqual(
      requests.map(({ operationId }) => [operationId, 0, undefined, []]),
    );
  });

  /** What a generator would have written where there is no example. */
  const bodyFaults = (body: string) => body.match(/^"?string"?$|"string"|\blorem\b/i) ?? [];

  test('discovery leads to the mocks, and nothing to the servers of the examples', async () => {
    const { body } = await exchange(ports['sign-on'], '/.well-known/openid-configuration');
    const { issuer, token_endpoint, jwks_uri } = JSON.parse(body);
    const url = `http://127.0.0.1:${ports['sign-on']}`;
    expect([issuer, token_endpoint, jwks_uri]).toEqual([
      url,
      `${url}/auth/token`,
      `${url}/.well-known/jwks.json`,
    ]);
    expect((await exchange(ports['sign-on'], new URL(jwks_uri).pathname)).status).toBe(200);
    expect(body).not.toContain('sign-on.example.com');
  });

  test.each(['listWorkersV2', 'listUsers'])(
    '%s is one page, so that who reads all comes to an end',
    async (id) => {
      const list = ofName('gateway').requests.find(({ operationId }) => operationId === id);
      const { status, headers } = await exchange(ports.gateway, `${list?.target}?limit=1`, list?.question);
      expect([status, headers.link]).toEqual([200, undefined]);
    },
  );

  test.each([304, 400, 404, 406, 429, 500, 503])(
    'who asks for a %i gets the documented one',
    async (status) => {
      const [, first] = documentedRequests(mockedDocument('gateway', ports));
      const headers = { ...first?.question.headers, prefer: `code=${status}` };
      const answer = await exchange(ports.gateway, first?.target ?? '', { headers });
      expect(answer.status).toBe(status);
      expect(answer.headers['x-request-id']).toBeDefined();
      if (status !== 304) {
        expect(JSON.parse(answer.body)).toMatchObject({ status, code: expect.any(String) });
      }
    },
  );

  test('a request without its key is refused, and said to be', async () => {
    const answer = await exchange(ports.gateway, '/v1/instance-integrations?said=1');
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([401, 'api_key_missing']);
    await output.nextText('gateway  GET  /v1/instance-integrations');
    await output.nextText('Invalid security scheme used');
  });

  test('Ctrl-C ends both at once', async () => {
    // Unlike `exit`, `close` comes after all output has arrived.
    const ended = once(mocks, 'close');
    mocks.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    await expect(exchange(ports.gateway, '/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(exchange(ports['sign-on'], '/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(errors.text()).toBe('');
  });
});

describe('mocks that cannot start', () => {
  const endingOf = async (env: Record<string, string>) => {
    const child = startMocks(env);
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    return [code, said];
  };

  test('say which port is taken and how to choose another', async () => {
    const other = createServer();
    const port = await listenOnLoopback(other);
    const [gateway = 0] = await freePorts(1);
    expect(await endingOf(settingsOf({ gateway, 'sign-on': port }))).toEqual([
      1,
      `Port ${port}, where the sign-on mock would listen, is taken. Choose another: MOCK_SIGN_ON_PORT=14010 make mock\n`,
    ]);
    await new Promise((resolve) => other.close(resolve));
  });

  test.each([
    [{ MOCK_GATEWAY_PORT: 'x' }, 'MOCK_GATEWAY_PORT must be a port, a number from 1 to 65535; it is "x".\n'],
    [{ MOCK_SIGN_ON_PORT: '4010' }, 'The mocks need two ports; both were given 4010.\n'],
  ])('say what is wrong with %j', async (env, sentence) => {
    expect(await endingOf(env)).toEqual([1, sentence]);
  });
});

test('the make target starts what is tested here', () => {
  expect(readFileSync(join(packageRoot, 'Makefile'), 'utf8')).toMatch(
    /^mock: .*\n\t@exec node --import tsx test\/mock\/main\.ts$/m,
  );
});

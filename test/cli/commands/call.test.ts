import { beforeAll, describe, expect, test } from '@jest/globals';
import { freePorts } from '../../support/free-ports.js';
import { roleTokens } from '../../support/role-tokens.js';
import { type ServiceProcess, serviceProcesses } from '../../support/service-process.js';
import { integration } from '../typed.js';

const services = serviceProcesses();

const LIST = 'Operator/ListIntegrations';

describe('integration call', () => {
  let domain: ServiceProcess;

  const call = (...args: string[]) =>
    integration(['call', ...args], { ENVIRONMENT: 'demo', DATA_DIR: domain.dataDir });

  beforeAll(async () => {
    domain = await services.start({
      command: 'domain',
      env: roleTokens,
    });
  });

  test('lists every service and method of its port by reflection, with the token of the demo', async () => {
    const { code, stdout, stderr } = await call();
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^integration\.operator\.v1\.OperatorService\n {2}CreateApplication\(/m);
    expect(stdout).toContain('  TailDeliveries(TailDeliveriesRequest) -> stream TailDeliveriesResponse');
    // Those of edge and worker are on the socket alone.
    expect(stdout.match(/^integration\./gm)).toHaveLength(3);
  });

  test('prints what a method answers, as JSON', async () => {
    const { code, stdout, stderr } = await call('Operator/ListIntegrations', '{"pageSize": 1}');
    expect([code, stderr]).toEqual([0, '']);
    const { integrations } = JSON.parse(stdout);
    expect(integrations).toEqual([
      {
        id: expect.stringMatching(/^itg_/),
        name: expect.any(String),
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        updatedAt: expect.any(String),
        version: expect.any(String),
      },
    ]);
  });

  test.each([
    [
      'a wrong token',
      ['--token', 'wrong'],
      1,
      /^This service token is not valid here\. \(service_token_invalid\)\n$/,
    ],
    ['no token', ['--token', ''], 1, /^This call needs a service token\. \(service_token_missing\)\n$/],
    [
      'a full name',
      ['integration.operator.v1.OperatorService/GetIntegration', '{"integrationId": "itg_none"}'],
      1,
      /^There is no such integration\. \(integration_not_found\)\n$/,
    ],
    [
      'a field that is out of bounds',
      ['Operator/ListIntegrations', '{"pageSize":501}'],
      1,
      /\(invalid_request\)\n {2}- page_size /,
    ],
    [
      'an unknown method',
      ['Operator/Nothing'],
      2,
      /^There is no method Operator\/Nothing\. `integration call` without/,
    ],
    ['JSON cut off', [LIST, '{'], 2, /^The request must be a JSON object, such as /],
    ['JSON that is no object', [LIST, '[1]'], 2, /^The request must be a JSON object, such as /],
    [
      'an address that is none',
      ['--address', 'nowhere'],
      2,
      /^--address must be host:port, and is nowhere\.\n$/,
    ],
    [
      'an authority that is no file',
      ['--ca', '/not/there'],
      2,
      /^The file given as --ca cannot be used: .*\/not\/there/,
    ],
  ])('%s is a sentence on stderr', async (_, args, code, words) => {
    const typed = await call(...args);
    expect([typed.code, typed.stdout]).toEqual([code, '']);
    expect(typed.stderr).toMatch(words);
    expect(typed.stderr).not.toMatch(/^\s+at /m);
  });

  test('a method for others is a sentence on stderr', async () => {
    const { code, stderr } = await call('--token', domain.demo().operatorToken, 'Platform/CreateClient');
    expect([code, stderr]).toEqual([1, 'This token may not call this method. (caller_not_allowed)\n']);
  });

  test('without a server says so in one line, with the address', async () => {
    const [port] = await freePorts(1);
    const { code, stderr } = await call('--address', `127.0.0.1:${port}`);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`^127\\.0\\.0\\.1:${port} gave no usable answer: UNAVAILABLE: .*ECONNREFUSED.*\\n$`),
    );
  });

  test('without a demo environment says what to give', async () => {
    const { code, stderr } = await integration(['call'], { DATA_DIR: services.newDirectory() });
    expect(code).toBe(2);
    expect(stderr).toMatch(/Start it with `make run`, or give --address and --token\.\n$/);
  });
});

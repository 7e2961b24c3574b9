import { beforeAll, describe, expect, test } from '@jest/globals';
import { freePorts } from '../../support/free-ports.js';
import { roleTokens } from '../../support/role-tokens.js';
import { type ServiceProcess, serviceProcesses } from '../../support/service-process.js';
import { integration, pipedIntegration, sharedIntegration } from '../typed.js';

const services = serviceProcesses();

const LIST = 'Operator/ListIntegrations';

describe('integration call', () => {
  let domain: ServiceProcess;

  const settings = () => ({ ENVIRONMENT: 'demo', DATA_DIR: domain.dataDir });
  const call = (...args: string[]) => sharedIntegration(['call', ...args], settings());

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
    const args = ['call', 'Operator/ListIntegrations', '{"pageSize": 1}'];
    const { code, stdout, stderr } = await integration(args, settings());
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

  test('sends the request that is piped in, so that no list of processes shows its secrets', async () => {
    const args = ['call', LIST, '-'];
    const { code, stdout, stderr } = await pipedIntegration('{"pageSize":\n 1}\n', args, settings());
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout).integrations).toHaveLength(1);
    const cut = await pipedIntegration('{"pageSize":', args, settings());
    expect([cut.code, cut.stderr]).toEqual([2, expect.stringMatching(/^The request must be a JSON object/)]);
  });

  test('speaks the JSON of protobuf both ways: times, names of enums, both spellings of fields', async () => {
    const listed = await call(LIST, '{"page_size": 1}');
    const integrationId = JSON.parse(listed.stdout).integrations[0].id;
    const key = { integration_id: integrationId, label: 'JSON', expires_at: '2099-01-31T12:00:00Z' };
    const made = await call('Operator/CreateApiKey', JSON.stringify(key));
    expect([made.code, made.stderr]).toEqual([0, '']);
    expect(JSON.parse(made.stdout).apiKey).toMatchObject({
      integrationId,
      status: 'KEY_STATUS_ACTIVE',
      expiresAt: '2099-01-31T12:00:00Z',
    });
    const revoked = await call(
      'Operator/ListApiKeys',
      JSON.stringify({ integrationId, status: 'KEY_STATUS_REVOKED' }),
    );
    expect([revoked.code, revoked.stdout]).toEqual([0, '{}\n']);
  });

  test('prints what a person is by the name of the field that is set, and nothing of a generator', async () => {
    const [person] = domain.demo().people;
    const { code, stdout } = await call('Platform/GetAccount', JSON.stringify({ email: person?.email }));
    expect(code).toBe(0);
    const { account, contexts } = JSON.parse(stdout, (name, value) => {
      expect(name).toMatch(/^([a-z][A-Za-z0-9]*|\d*)$/);
      return value;
    });
    expect(account.email).toBe(person?.email);
    expect(contexts[0].userId ?? contexts[0].workerId).toMatch(/^(usr|wrk)_/);
  });

  test('names each fault of a request that does not fit once', async () => {
    const { code, stdout, stderr } = await call(LIST, '{"pageSize": "many", "pages": 1}');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      [
        'The request does not fit ListIntegrationsRequest; the fields say why. (invalid_request)',
        '  - pageSize must be a number (uint32)',
        '  - pages is not a field here\n',
      ].join('\n'),
    );
  });

  test('names all fields that a request lacks, as it spells them', async () => {
    const { code, stderr } = await call('Platform/CreateUser', '{"firstName": " "}');
    expect(code).toBe(1);
    expect(stderr).toBe(
      [
        'The request is invalid; the fields say why. (invalid_request)',
        '  - clientId must not be empty',
        '  - email must not be empty',
        '  - firstName must not be empty\n',
      ].join('\n'),
    );
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
      /\(invalid_request\)\n {2}- pageSize /,
    ],
    [
      'an unknown method',
      ['Operator/Nothing'],
      2,
      /^There is no method Operator\/Nothing\. `integration call` without/,
    ],
    [
      'a method without its service',
      ['GetIntegration', '{"integrationId": "itg_x"}'],
      1,
      /^There is no such integration\. /,
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
      /^The file given as --ca or INTEGRATION_CA cannot be used: .*\/not\/there/,
    ],
  ])('%s is a sentence on stderr', async (_, args, code, words) => {
    const typed = await call(...args);
    expect([typed.code, typed.stdout]).toEqual([code, '']);
    expect(typed.stderr).toMatch(words);
    expect(typed.stderr).not.toMatch(/^\s+at /m);
  });

  test('a method for others is a sentence on stderr', async () => {
    const { code, stderr } = await call('--token', domain.demo().operatorToken, 'Platform/CreateClient');
    expect([code, stderr]).toEqual([
      1,
      'This method needs a token with the right platform; this one has the right operator. (caller_not_allowed)\n',
    ]);
  });

  test('without a server says so in one line, with the address', async () => {
    const [port] = await freePorts(1);
    const { code, stderr } = await integration(['call', '--address', `127.0.0.1:${port}`], settings());
    expect(code).toBe(1);
    expect(stderr).toBe(
      `Nothing listens at 127.0.0.1:${port}. Start the service there, or set INTEGRATION_ADDRESS to where it is.\n`,
    );
  });

  test('on live without a token says what to give, and nothing of a demo', async () => {
    const { code, stderr } = await integration(['call'], {
      ENVIRONMENT: 'live',
      DATA_DIR: services.newDirectory(),
    });
    expect([code, stderr]).toEqual([
      2,
      'The command needs a token: set INTEGRATION_TOKEN_FILE to the file that has it, or give --token.\n',
    ]);
  });

  test('without a demo environment says what to give', async () => {
    const { code, stderr } = await integration(['call'], { DATA_DIR: services.newDirectory() });
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /Start it with `make run`, or set DATA_DIR to where it is\. For another environment, set INTEGRATION_TOKEN_FILE to the file that has a token for it\.\n$/,
    );
  });
});

describe('the help of a method', () => {
  const help = (...args: string[]) => sharedIntegration(['call', ...args, '--help']);

  test('lists the fields of its request with type and comment, without a server', async () => {
    const { code, stdout, stderr } = await help('Platform/ListUsers');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Usage: integration call Platform\/ListUsers '\{…\}'\n\n/);
    expect(stdout).toContain('Answers with ListUsersResponse. Rights: platform, operator, support.');
    expect(stdout).toContain('\n  clientId  a string\n      Public id of the client.\n');
    expect(stdout).toContain(
      '\n  statuses  a list, each one of USER_STATUS_UNSPECIFIED, USER_STATUS_ACTIVE,',
    );
    expect(stdout).toContain('\n  email  a string; optional\n');
    expect(stdout).toContain('\n  pageSize  a number (uint32)\n');
  });

  test('shows the fields of objects, and which of some fields exclude each other', async () => {
    const redirect = await help('Operator/AddRedirectUri');
    expect(redirect.stdout).toContain('\n  redirectUri  an object (RedirectUri)\n');
    expect(redirect.stdout).toContain('\n      uri  a string\n          The address, matched exactly.\n');
    const account = await help('integration.platform.v1.PlatformService/GetAccount');
    expect(account.stdout).toContain('\n  email  a string; only one of accountId, email\n');
    const key = await help('Operator/CreateApiKey');
    expect(key.stdout).toContain('\n  expiresAt  a time, such as "2027-01-31T12:00:00Z"; optional\n');
  });

  test('says whether it is for tokens of one instance', async () => {
    const enableUser = await help('Platform/EnableUser');
    expect(enableUser.stdout).toContain(' Rights: platform.\n');
    const setPassword = await help('Platform/SetPassword');
    expect(setPassword.stdout).toContain(' Rights: platform; not for tokens of one instance.\n');
  });

  test('marks methods that stream answers, and requests without fields', async () => {
    const tail = await help('Webhook/TailDeliveries');
    expect(tail.stdout).toContain('Answers with a stream of TailDeliveriesResponse.');
    const keys = await help('Operator/ListSigningKeys');
    expect(keys.stdout).toMatch(/^Usage: integration call Operator\/ListSigningKeys\n/);
    expect(keys.stdout).toContain('It has no fields.');
  });

  test('is found by the name of the method alone', async () => {
    expect(await help('ListUsers')).toEqual(await help('Platform/ListUsers'));
  });

  test.each([
    ['CreateUsr', 'Did you mean Platform/CreateUser?'],
    ['createuser', 'Did you mean Platform/CreateUser?'],
    ['Platfrom/CreateUser', 'Did you mean Platform/CreateUser?'],
    ['PlatformService/CreateUsr', 'Did you mean Platform/CreateUser?'],
    ['integration.platform.v1.PlatformService/CreateUsr', 'Did you mean Platform/CreateUser?'],
    ['Operator', 'That is a service: add a method, as in Operator/CreateApplication.'],
    ['Nothing/Alike', '`integration call` without arguments lists them all.'],
  ])('of %s, which is none, says what may be meant', async (name, advice) => {
    const { code, stdout, stderr } = await help(name);
    expect([code, stdout, stderr]).toEqual([2, '', `There is no method ${name}. ${advice}\n`]);
  });

  test.each(['Operator/Nothing', 'Delivery/ClaimDeliveries'])(
    'of %s, which there is not for people, is a sentence on stderr',
    async (name) => {
      const { code, stdout, stderr } = await help(name);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^There is no method /);
    },
  );
});

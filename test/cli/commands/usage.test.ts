import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { payloadSchemaOf } from '../../../generated/asyncapi/schemas.js';
import { mainFile } from '../../support/service-process.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { integration, sharedIntegration } from '../typed.js';

const newDirectory = temporaryDirectories();

const SECRETS = {
  EDGE_TOKEN: 'a-token-nobody-should-see-in-any-output',
  DATABASE_URL: 'postgres://someone:a-password-nobody-should-see@db:5432/integration?sslmode=verify-full',
};

const GROUPS = [
  'app',
  'integration',
  'key',
  'instance',
  'client',
  'user',
  'worker',
  'account',
  'subscription',
  'delivery',
  'event',
  'token',
  'signing-key',
  'audit',
];
const COMMANDS = [
  'serve',
  'domain',
  'edge',
  'init',
  'config',
  'doctor',
  'backup',
  'restore',
  'revocations',
  'resume',
  'expire-cursors',
  'migrate-store',
  'onboard',
  ...GROUPS,
  'expiring',
  'listen',
  'sync',
  'import',
  'call',
  'completion',
];

test.each(['::1', '[::1]'])(
  'the gRPC port of the settings is called also where its host is the IPv6 address %s',
  async (GRPC_HOST) => {
    const token = { ENVIRONMENT: 'live', INTEGRATION_TOKEN: `operator_live_${'0'.repeat(48)}` };
    const settings = { ...token, GRPC_HOST, GRPC_PORT: '1' };
    const { code, stderr } = await sharedIntegration(['integration', 'list'], settings);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^\[::1\]:1 gave no usable answer: /)]);
  },
);

test('a command that calls the service knows of secrets in files, and does not need to read them', async () => {
  const settings = {
    ...{ ENVIRONMENT: 'live', INTEGRATION_TOKEN: `operator_live_${'0'.repeat(48)}`, GRPC_PORT: '1' },
    ...{ TEMPORAL_ADDRESS: 'temporal.example.com:7233', TEMPORAL_API_KEY_FILE: '/none' },
  };
  const { code, stderr } = await sharedIntegration(['key', 'list'], settings);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^127\.0\.0\.1:1 gave no usable answer: /)]);
});

test('an empty variable counts as unset', async () => {
  const empty = {
    ...{ ENVIRONMENT: '', INTEGRATION_ADDRESS: '', INTEGRATION_CA: '', INTEGRATION_GATEWAY: '' },
    ...{ INTEGRATION_TOKEN: '', INTEGRATION_TOKEN_FILE: '', INTEGRATION_API_KEY: '' },
  };
  for (const args of [
    ['key', 'list'],
    ['worker', 'list', '--client', 'cli_x'],
    ['sync', '--to', 'copy.sqlite'],
  ]) {
    const { code, stderr } = await sharedIntegration(args, empty);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^There is no demo environment in /)]);
  }
  const { stderr } = await sharedIntegration(['key', 'list'], { ...empty, INTEGRATION_TOKEN_FILE: '/none' });
  expect(stderr).toBe('INTEGRATION_TOKEN_FILE names a file that does not exist.\n');
});

test.each([
  ['live', 'the settings', '1'],
  ['demo', 'the demo environment of the folder', '9'],
])('a token of %s is sent to the address of %s', async (environment, _, port) => {
  const DATA_DIR = newDirectory();
  writeFileSync(join(DATA_DIR, 'demo.json'), JSON.stringify({ grpcAddress: '127.0.0.1:9' }));
  const INTEGRATION_TOKEN = `operator_${environment}_${'0'.repeat(48)}`;
  const settings = { DATA_DIR, INTEGRATION_TOKEN, GRPC_PORT: '1' };
  const { code, stderr } = await sharedIntegration(['integration', 'list'], settings);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(`^127\\.0\\.0\\.1:${port} gave no usable answer: `),
  ]);
});

test('a token with a line break is refused, and not printed', async () => {
  const settings = { ENVIRONMENT: 'live', INTEGRATION_TOKEN: `operator_live_${'0'.repeat(48)}\r` };
  const called = await Promise.all([
    sharedIntegration(['integration', 'list'], settings),
    sharedIntegration(['call'], settings),
  ]);
  const stderr = 'The token has characters that no token has, such as a line break.\n';
  expect(called).toEqual(called.map(() => ({ code: 2, stdout: '', stderr })));
});

describe('help', () => {
  test('of the command names every command in a line and what the exit codes mean', async () => {
    const { code, stdout, stderr } = await integration(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    for (const command of COMMANDS) {
      expect(stdout).toMatch(new RegExp(`^  ${command}\\b.* {2}[A-Z]`, 'm'));
    }
    expect(stdout).toContain('`integration config` lists them');
    expect(stdout).toContain('3 only warnings (doctor) · 78 cannot start');
  });

  test.each([
    ['serve', 'ENVIRONMENT=demo integration serve'],
    ['domain', 'the rules and the store'],
    ['worker', 'which sends webhooks'],
    ['edge', 'HTTP listeners'],
    ['config', '--json'],
    ['call', "integration call Platform/UpdateUser '{"],
    ['import', 'integration import people.jsonl --dry-run'],
    ['onboard', 'integration onboard "Brightledger" --instance ins_…'],
    ['expiring', 'integration expiring --within 90d'],
    ['listen', 'integration listen --forward-to localhost:3000/webhooks'],
    ['sync', 'integration sync --to copy.sqlite'],
    ['init', 'ENVIRONMENT=live integration init'],
    ['completion', 'source <(integration completion bash)'],
  ])('of %s says what it does and how it goes', async (command, words) => {
    const { code, stdout, stderr } = await sharedIntegration([command, '--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`Usage: integration ${command}`);
    expect(stdout).toContain(words);
    expect(stdout).not.toContain('--ops-socket');
  });
});

describe('help at every level below', () => {
  test.each(GROUPS)('of %s and of each of its verbs shows an example', async (group) => {
    const { code, stdout } = await sharedIntegration([group, '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: integration ${group}`);
    expect(stdout).toContain(`Examples:\n  $ integration ${group} `);
    const verbs = [...stdout.matchAll(/^ {2}([a-z-]+) \[options\]/gm)].map(([, verb = '']) => verb);
    expect(verbs.length).toBeGreaterThan(0);
    await Promise.all(
      verbs.map(async (verb) => {
        const help = await sharedIntegration([group, verb, '--help']);
        expect(help.code).toBe(0);
        expect(help.stdout).toContain(`Examples:\n  $ integration ${group} ${verb}`);
        expect(help.stdout).toContain('--token <token>');
        expect(help.stdout).not.toContain('undefined');
      }),
    );
  });
});

test.each([
  ['client', 'CreateClient'],
  ['user', 'CreateUser'],
  ['worker', 'OnboardWorker'],
])('help of %s says how to make one', async (group, method) => {
  const { stdout } = await sharedIntegration([group, '--help']);
  const [, request = ''] =
    new RegExp(`^  \\$ integration call Platform/${method} '(.+)'$`, 'm').exec(stdout) ?? [];
  const { stdout: fields } = await sharedIntegration(['call', `Platform/${method}`, '--help']);
  for (const field of Object.keys(JSON.parse(request) as object)) {
    expect(fields).toMatch(new RegExp(`^ *${field}\\b`, 'm'));
  }
});

describe('help of a command that does not exist', () => {
  test.each([
    ['help', 'nope'],
    ['key', 'help', 'nope'],
    ['help', 'key', 'nope'],
    ['help', 'key', 'rotate', 'nope'],
  ])('is refused: %s', async (...args) => {
    const { code, stdout, stderr } = await sharedIntegration(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toBe("error: unknown command 'nope'\n(--help shows the usage)\n");
  });
});

describe('help of a verb', () => {
  test.each(['key rotate', 'config check', 'worker list', 'signing-key list'])(
    'is also what `help` shows: %s',
    async (names) => {
      const help = await sharedIntegration([...names.split(' '), '--help']);
      expect(help).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`Usage: integration ${names} `),
      });
      expect(await sharedIntegration(['help', ...names.split(' ')])).toEqual(help);
    },
  );

  test('is shown by `help` of its group too', async () => {
    const help = await sharedIntegration(['key', 'rotate', '--help']);
    expect(await sharedIntegration(['key', 'help', 'rotate'])).toEqual(help);
  });

  test.each(['key', 'token'])('that issues a %s says that it never ends unless told', async (group) => {
    const { stdout } = await sharedIntegration([group, 'create', '--help']);
    expect(stdout.replace(/\s+/g, ' ')).toMatch(/--expires <when> when it ends: [^-]*; never unless given/);
  });

  test('that issues a key says what the key reads', async () => {
    const { stdout } = await sharedIntegration(['key', 'create', '--help']);
    const said =
      'The key reads every instance that it is connected to, now or later: for a key of one instance,';
    expect(stdout.replace(/\s+/g, ' ')).toContain(said);
  });

  test.each([['call'], ['key', 'list'], ['import']])(
    'that calls the service says how to keep the token out of lists of processes: %s',
    async (...names) => {
      const { stdout } = await sharedIntegration([...names, '--help']);
      expect(stdout).toMatch(/--token <token>[^-]*INTEGRATION_TOKEN_FILE/);
      expect(stdout).not.toContain('--token "$');
    },
  );

  test('that stops webhooks says so, and that what they miss is not sent by itself', async () => {
    const helpOf = async (verb: string) =>
      (await sharedIntegration(['integration', verb, '--help'])).stdout.replace(/\s+/g, ' ');
    const undoing = await helpOf('unconfigure');
    expect(undoing).toContain('its subscriptions are disabled; only `event replay` sends what they miss');
    expect(await helpOf('configure')).toContain('subscriptions that `unconfigure` disabled are enabled');
  });

  test('of a replay says that it sends events older than the subscription too', async () => {
    const { stdout } = await sharedIntegration(['event', 'replay', '--help']);
    const said = 'to one subscription, also those from before it was made, except those that it acknowledged';
    expect(stdout.replace(/\s+/g, ' ')).toContain(said);
  });

  test('marks required options', async () => {
    const { stdout } = await sharedIntegration(['key', 'create', '--help']);
    expect(stdout).toMatch(/--label <text> +required; what it is for$/m);
    expect(stdout).toMatch(/--expires <when> +when it ends/);
  });
});

describe('help of an update', () => {
  test.each(['app', 'integration', 'instance', 'key', 'subscription'])(
    'of %s names no default: what is not given stays',
    async (group) => {
      const { code, stdout } = await sharedIntegration([group, 'update', '--help']);
      expect(code).toBe(0);
      expect(stdout.replace(/\s+/g, ' ')).not.toMatch(/default\b(?!-lifetimes)|unless given/);
    },
  );

  test('of an application says what replaces and removes, and that of its registration has the defaults', async () => {
    const { stdout: update } = await sharedIntegration(['app', 'update', '--help']);
    expect(update).toMatch(/--scope <scope> [^"]*replaces the present ones/);
    expect(update).toContain('"" removes it');
    const { stdout: create } = await sharedIntegration(['app', 'create', '--help']);
    expect(create).toMatch(/--access-token-lifetime <duration> .*1h unless given/);
    expect(create).not.toContain('removes it');
  });
});

describe('wrong usage', () => {
  test.each([
    ['a noun without a verb', ['key'], /Usage: integration key/],
    ['an unknown verb', ['key', 'rotat'], /unknown command 'rotat'/],
    ['a verb without its argument', ['key', 'show'], /missing required argument 'key'/],
    ['a verb without its option', ['key', 'create', 'itg_x'], /required option '--label <text>'/],
    [
      'a duration that is none',
      ['key', 'rotate', 'key_x', '--overlap', '5x'],
      /must be a duration in whole seconds, such as 30s/,
    ],
    [
      'a duration without a unit',
      ['key', 'rotate', 'key_x', '--overlap', '60'],
      /must have a unit, as in 30s/,
    ],
    ['a part of a second', ['key', 'rotate', 'key_x', '--overlap', '250ms'], /must be .* in whole seconds/],
    [
      'a longer duration than the service reads',
      ['key', 'rotate', 'key_x', '--overlap', '49711d'],
      /at most/,
    ],
    ['a time that is none', ['audit', 'list', '--since', '2026-99-99'], /must be a time/],
    ['a day that the month lacks', ['key', 'update', 'key_x', '--expires', '2027-02-31'], /must be a time/],
    ['such a day without zeros', ['key', 'update', 'key_x', '--expires', '2027-2-31'], /must be a time/],
    [
      'words for a time',
      ['audit', 'list', '--since', '7d ago'],
      /a time such as .*, or a duration with its unit, such/,
    ],
    ['a time without a unit', ['audit', 'list', '--since', '60'], /a duration with its unit, such as 12h/],
    ['a count that is none', ['key', 'list', '--limit', '0'], /whole number from 1/],
    ['a state that is none', ['key', 'list', '--status', 'old'], /Allowed choices are active/],
    [
      'an address without its instance',
      ['app', 'create', 'x', '--type', 'public', '--redirect-uri', 'https://x'],
      /an instance and an address/,
    ],
    [
      'a grant that is none',
      ['app', 'update', 'app_x', '--grant-type', 'password'],
      /must be one of authorization_code/,
    ],
    [
      'a scope that is none',
      ['app', 'create', 'x', '--type', 'public', '--scope', 'admin'],
      /must be one of openid, profile, email/,
    ],
    [
      'a verb without several options, all of which are named',
      ['subscription', 'create'],
      /missing required options '--instance-integration <connection>', '--url <url>', '--events <types>'/,
    ],
    [
      'a verb without its argument and its option, which are named together',
      ['key', 'create'],
      /missing required argument 'integration' and required option '--label <text>'/,
    ],
    [
      'a command without its argument and its option, which are named together',
      ['onboard'],
      /missing required argument 'name' and required option '--instance <instance>'/,
    ],
    [
      'a verb without its arguments, all of which are named',
      ['integration', 'connect'],
      /missing required arguments 'integration', 'instance'/,
    ],
    [
      'a subscription without events',
      ['subscription', 'create', '--instance-integration', 'iin_x', '--url', 'https://x'],
      /required option '--events <types>'/,
    ],
    ['events with a gap', ['subscription', 'update', 'whs_x', '--events', 'user.*,'], /commas between/],
    ...[
      ['event', 'list', '--types', 'user.update'],
      ['event', 'replay', '--subscription', 'whs_x', '--since', '1d', '--types', 'users.*'],
      ['delivery', 'list', '--types', 'user.updated,client'],
      ['delivery', 'tail', '--types', 'user'],
      ['subscription', 'update', 'whs_x', '--events', 'user.*,nothing.*'],
      ['subscription', 'test', 'whs_x', '--event', 'user.*'],
      ['onboard', 'x', '--instance', 'ins_x', '--webhook-url', 'https://x', '--events', 'all'],
      ['listen', '--events', 'user.gone'],
    ].map((args): [string, string[], RegExp] => [
      `an unknown type of events for ${args.slice(0, 2).join(' ')}`,
      args,
      new RegExp(`must be (?:one )?of ${Object.keys(payloadSchemaOf).join(', ')}`),
    ]),
    ...[
      ['app', 'list', '--instance', 'cli_x'],
      ['client', 'list', '--instance', 'cli_x'],
      ['integration', 'connections', 'ins_x'],
      ['integration', 'connections', '--instance', 'itg_x'],
      ['key', 'list', 'nightly'],
      ['user', 'list', '--client', 'Northwind'],
      ['worker', 'list', '--client', 'ins_x'],
      ['worker', 'list', '--client', 'cli_x', '--unit', 'olo_x'],
      ['worker', 'list', '--client', 'cli_x', '--location', 'oun_x'],
      ['subscription', 'list', '--instance-integration', 'ins_x'],
      ['delivery', 'list', '--subscription', 'whd_x'],
      ['delivery', 'list', '--event', 'whd_x'],
      ['delivery', 'tail', '--instance-integration', 'itg_x'],
      ['event', 'list', '--client', 'usr_x'],
      ['event', 'list', '--instance', 'iin_x'],
    ].map((args): [string, string[], RegExp] => [
      `an id of another kind in ${args.join(' ')}`,
      args,
      /It must be an id such as [a-z]{3}_…\./,
    ]),
    [
      'a part of an id, which would find nothing',
      ['delivery', 'list', '--subscription', 'whs_nope'],
      /'--subscription <subscription>' .* must be a whole id: whs_ and 22 letters or digits/,
    ],
    ...['ada@example.com', 'Ada Byron', 'cli_x', ''].map((about): [string, string[], RegExp] => [
      `"${about}" for a party of the audit log`,
      ['audit', 'list', '--about', about],
      /'--about <id>' .* must be a whole id, such as cli_ and 22 letters or digits, or a name in the log/,
    ]),
    [
      'a type of the audit log that is none',
      ['audit', 'list', '--type', 'sign-in'],
      /'--type <type>' .* must be a type such as api_key\.revoked/,
    ],
    [
      'some clients and all clients',
      ['subscription', 'update', 'whs_x', '--clients', 'cli_x', '--all-clients'],
      /cannot be used with option/,
    ],
    [
      'a state of deliveries that is none',
      ['delivery', 'list', '--status', 'held,lost'],
      /of pending, delivered/,
    ],
    [
      'a replay without its beginning',
      ['event', 'replay', '--subscription', 'whs_x'],
      /required option '--since <when>'/,
    ],
    ['a shell that is none', ['completion', 'ksh'], /There is no completion for ksh/],
    ['a shell named as all objects have it', ['completion', 'constructor'], /no completion for constructor/],
    ['an unknown command', ['sevre'], /unknown command 'sevre'/],
    ['an unknown option of the command', ['config', '--nope'], /unknown option '--nope'/],
    ['an option of the command above', ['config', 'check', '--json'], /unknown option '--json'/],
    ['an unknown option of a role', ['edge', '--nope'], /unknown option '--nope'/],
    ['too many arguments', ['call', 'a', '{}', 'c'], /too many arguments for 'call'/],
    ['an option without its value', ['call', '--token'], /argument missing/],
    ['no command at all', [], /Usage: integration/],
  ])('%s is told on stderr, with exit code 2', async (_, args, words) => {
    const { code, stdout, stderr } = await sharedIntegration(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(words);
  });

  test('ends a process of its own the same way', async () => {
    const { code, stdout, stderr } = await integration(['sevre']);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining("unknown command 'sevre'")]);
  });
});

describe('integration config', () => {
  test('is a table that marks what was set, with secrets masked', async () => {
    const { code, stdout } = await sharedIntegration(['config'], { ...SECRETS, GATEWAY_PORT: '8080' });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\* GATEWAY_PORT +8080 +\S/m);
    expect(stdout).toMatch(/^ {2}SIGN_ON_PORT +4000 +\S/m);
    expect(stdout).toMatch(/^ {2}GATEWAY_URL +http:\/\/localhost:8080 /m);
    expect(stdout).toMatch(/^\* EDGE_TOKEN +\[secret\] /m);
    expect(stdout).not.toContain('nobody-should-see');
  });

  test('as JSON is one object with the same values', async () => {
    const { stdout } = await sharedIntegration(['config', '--json'], { ...SECRETS, GATEWAY_PORT: '8080' });
    expect(JSON.parse(stdout)).toMatchObject({
      GATEWAY_PORT: '8080',
      EDGE_TOKEN: '[secret]',
      DATABASE_URL: '[secret]',
    });
    expect(stdout).not.toContain('nobody-should-see');
  });

  test('prints the names of files that another role reads', async () => {
    const files = { TEMPORAL_API_KEY_FILE: '/none', DATABASE_URL_FILE: '/none' };
    const { code, stdout } = await sharedIntegration(['config', '--json'], files);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ...files, TEMPORAL_API_KEY: '' });
  });

  test('with settings that cannot be used names them all, with exit code 78 and without their secrets', async () => {
    const { code, stdout, stderr } = await integration(['config'], {
      DATABASE_URL: 'mysql://someone:a-password-nobody-should-see@db',
      GATEWAY_PORT: '70000',
    });
    expect([code, stdout]).toEqual([78, '']);
    expect(stderr).toMatch(/^The settings cannot be used:\n {2}- /);
    expect(stderr).toContain('DATABASE_URL');
    expect(stderr).toContain('GATEWAY_PORT');
    expect(stderr).not.toContain('nobody-should-see');
  });

  const FULL = '/dev/full';
  const testOnFull = existsSync(FULL) ? test : test.skip;

  testOnFull('says that its output is not complete where the disk is full', async () => {
    const output = openSync(FULL, 'w');
    const child = spawn(process.execPath, [mainFile, 'config'], { stdio: ['ignore', output, 'pipe'] });
    closeSync(output);
    const [said, [code]] = await Promise.all([text(child.stderr as Readable), once(child, 'close')]);
    expect([code, said]).toEqual([1, expect.stringMatching(/^The output is not complete: ENOSPC\b.*\n$/)]);
  });

  test('does not complain about a reader that leaves early', async () => {
    const child = spawn(process.execPath, [mainFile, 'config'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let complaint = '';
    child.stderr.on('data', (chunk) => {
      complaint += chunk;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect([code, complaint]).toEqual([0, '']);
  });
});

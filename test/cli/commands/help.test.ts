import { describe, expect, test } from '@jest/globals';
import { integration, sharedIntegration } from '../typed.js';

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
  'encryption-key',
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

/** What the help of a group or verb shows after `integration`. */
function examplesIn(help: string, group: string): string[] {
  return [...help.matchAll(/^ {2}\$ integration (.*)$/gm)].flatMap(([, line = '']) =>
    line.startsWith(`${group} `) ? [line] : [],
  );
}

/** As a shell would pass them, with whole ids. */
function wordsOf(line: string): string[] {
  const [command = ''] = line.replaceAll('…', 'HnuQOy4YQg1OdOSCDbMAkY').split(/ [>|] /);
  return (command.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
}

describe('help at every level below', () => {
  test.each(GROUPS)(
    'of %s and of each of its verbs shows examples, which the command accepts',
    async (group) => {
      const { code, stdout } = await sharedIntegration([group, '--help']);
      expect(code).toBe(0);
      expect(stdout).toContain(`Usage: integration ${group}`);
      expect(stdout).toContain(`Examples:\n  $ integration ${group} `);
      const examples = examplesIn(stdout, group);
      const verbs = [...stdout.matchAll(/^ {2}(?!help )([a-z-]+) .*$/gm)].map(([, verb = '']) => verb);
      expect(verbs.length).toBeGreaterThan(0);
      await Promise.all(
        verbs.map(async (verb) => {
          const help = await sharedIntegration([group, verb, '--help']);
          expect(help.code).toBe(0);
          expect(help.stdout).toContain(`Examples:\n  $ integration ${group} ${verb}`);
          expect(help.stdout).toContain('--token <token>');
          expect(help.stdout).not.toContain('undefined');
          examples.push(...examplesIn(help.stdout, group));
        }),
      );
      for (const example of examples) {
        const { stderr } = await sharedIntegration(wordsOf(example));
        expect([example, stderr]).toEqual([example, expect.not.stringMatching(/^error: /)]);
      }
    },
  );
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

  test('fits 80 columns except for examples, in groups with long names of verbs too', async () => {
    for (const group of [...GROUPS, 'call']) {
      const { stdout } = await sharedIntegration([group, '--help']);
      expect(stdout.split('\n').filter((line) => line.length > 80 && !line.startsWith('  $ '))).toEqual([]);
    }
    const { stdout } = await sharedIntegration(['--help']);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test('has the options of its own before those of every call', async () => {
    const { stdout } = await sharedIntegration(['key', 'create', '--help']);
    const names = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z]+)/gm)].map(([, name]) => name);
    expect(names).toEqual(['--json', '--label', '--expires', '--address', '--token', '--ca', '--help']);
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

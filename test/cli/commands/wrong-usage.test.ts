import { describe, expect, test } from '@jest/globals';
import { payloadSchemaOf } from '../../../generated/asyncapi/schemas.js';
import { integration, sharedIntegration } from '../typed.js';

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
      ['event', 'show', 'whd_x'],
      ['event', 'show', 'evt_x', '--instance-integration', 'ins_x'],
      ['event', 'replay', '--subscription', 'iin_x', '--since', '1d'],
      ['event', 'replay', '--subscription', 'whs_x', '--since', '1d', '--after', 'whd_x'],
      ['account', 'disable', 'usr_x'],
      ['app', 'show', 'itg_x'],
      ['app', 'revoke-secret', 'app_x', 'cs_x'],
      ['integration', 'configure', 'itg_x'],
      ['integration', 'connect', 'ins_x', 'ins_x'],
      ['integration', 'connect', 'itg_x', 'itg_x'],
      ['key', 'create', 'iin_x', '--label', 'x'],
      ['key', 'show', 'ik_x'],
      ['onboard', 'x', '--instance', 'Harborlight Payroll'],
      ['listen', '--instance-integration', 'ins_x'],
      ['subscription', 'create', '--instance-integration', 'ins_x', '--url', 'https://x', '--events', '*'],
      ['subscription', 'show', 'iin_x'],
      ['token', 'create', '--role', 'platform', '--label', 'x', '--instance', 'iin_x'],
      ['token', 'revoke', 'st_x'],
    ].map((args): [string, string[], RegExp] => [
      `an id of another kind in ${args.join(' ')}`,
      args,
      /It must be an id such as [a-z]{3}_…[.,]/,
    ]),
    [
      'an id of another kind for an encryption key',
      ['encryption-key', 'retire', 'key_x'],
      /It must be an id such as ek_…\./,
    ],
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
      ['audit', 'list', '--type', 'api_key.revoke'],
      /'--type <type>' .* must be a type that the documentation lists, such as api_key\.revoked/,
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

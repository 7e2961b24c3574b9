import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Sqlite } from '../../../../src/store/better-sqlite3.js';
import { roleTokens } from '../../../support/role-tokens.js';
import { type ServiceProcess, serviceProcesses } from '../../../support/service-process.js';
import { integration, sharedIntegration, type Typed } from '../../typed.js';

const services = serviceProcesses();

describe('an auditor', () => {
  let domain: ServiceProcess;

  const settings = () => ({ ENVIRONMENT: 'demo', DATA_DIR: domain.dataDir });
  const type = (...args: string[]): Promise<Typed> => sharedIntegration(args, settings());

  const exported = async () => {
    const { code, stdout, stderr } = await integration(['audit', 'export'], settings());
    expect([code, stderr]).toEqual([0, '']);
    return stdout.trimEnd().split('\n');
  };

  const verifyFile = (lines: readonly string[]) => {
    const file = join(services.newDirectory(), 'audit.jsonl');
    writeFileSync(file, `${lines.join('\n')}\n`);
    return type('audit', 'verify', '--file', file);
  };

  beforeAll(async () => {
    // A first start, because an export has the chain of each start by itself, in no order.
    domain = await services.start({ command: 'domain', env: roleTokens, isFirst: true });
    for (const name of ['First', 'Second', 'Third']) {
      const { code } = await type('call', 'Platform/CreateInstance', JSON.stringify({ name }));
      expect(code).toBe(0);
    }
  });

  test('exports one record a line, which verify finds intact', async () => {
    const lines = await exported();
    expect(lines.map((line) => JSON.parse(line).event.type)).toEqual(
      expect.arrayContaining(['instance.created', 'instance.created', 'instance.created']),
    );
    expect(await verifyFile(lines)).toEqual({
      code: 0,
      stdout: `The records of the file are intact. Whether records are missing at its end cannot be judged: --anchors was not given. Records read: ${lines.length}.\n`,
      stderr: '',
    });
  });

  test.each<[what: string, spoil: (lines: string[]) => string[], finding: RegExp]>([
    ['a record is missing', (lines) => lines.toSpliced(-2, 1), /^missing: \S+ \d+\n/],
    [
      'a record says something else',
      (lines) => lines.with(-2, (lines.at(-2) as string).replace('instance.created', 'instance.updated')),
      /^changed: \S+ \d+ aud_\w+\n/,
    ],
    [
      'two records changed places',
      (lines) => lines.with(-1, lines.at(-2) as string).with(-2, lines.at(-1) as string),
      /^(missing|changed): /,
    ],
  ])('is told where in an export %s', async (_, spoil, finding) => {
    const { code, stdout, stderr } = await verifyFile(spoil(await exported()));
    expect([code, stdout]).toEqual([1, expect.stringMatching(finding)]);
    expect(stderr).toMatch(/^The audit log is not intact\. Findings: \d+\.\n$/);
  });

  test('sees no control characters of a forged export, which could hide what is found', async () => {
    const lines = await exported();
    const forged = { ...JSON.parse(lines.at(-1) as string), chain: '\u001b[8m' };
    const { code, stdout } = await verifyFile(lines.with(-1, JSON.stringify(forged)));
    const told = /^missing: ·\[8m 1 to \d+\nmade with other keys: ·\[8m \d+ aud_\w+\n$/;
    expect([code, stdout]).toEqual([1, expect.stringMatching(told)]);
  });

  test.each<[where: string, forge: (record: { event: object }) => object]>([
    ['', (record) => ({ ...record, approvedBy: 'someone' })],
    [' in its event', (record) => ({ ...record, event: { ...record.event, actorName: 'someone' } })],
    [
      ' in its party',
      (record) => ({
        ...record,
        event: { ...record.event, actor: { type: 'operator', id: 'x', name: 'y' } },
      }),
    ],
  ])('does not verify a record that says more%s than the service exports', async (_, forge) => {
    const lines = await exported();
    const { code, stdout, stderr } = await verifyFile([
      JSON.stringify(forge(JSON.parse(lines[0] as string))),
    ]);
    expect([code, stdout, stderr]).toEqual([
      2,
      '',
      expect.stringMatching(/^Line 1 of .* is not an exported record\.\n$/),
    ]);
  });

  test('has long records of a file checked in messages that the service reads', async () => {
    const lines = await exported();
    const long = lines.slice(-3).map((line) => {
      const { event, ...record } = JSON.parse(line);
      return JSON.stringify({ ...record, event: { ...event, requestId: 'r'.repeat(100_000) } });
    });
    const { code, stdout } = await verifyFile([...lines.slice(0, -3), ...long]);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^(changed: \S+ \d+ aud_\w+\n){3}$/)]);
    const tooLong = await verifyFile([...lines, 'x'.repeat(250_001)]);
    expect(tooLong.stderr).toMatch(
      new RegExp(`^Line ${lines.length + 1} of .* is not an exported record\\.\n$`),
    );
  });

  test('does not call an export intact that has no records or cannot be read', async () => {
    const empty = await verifyFile([]);
    expect([empty.code, empty.stdout]).toEqual([2, '']);
    expect(empty.stderr).toMatch(/has no records: the export failed\.\n$/);
    const missing = await type('audit', 'verify', '--file', join(services.newDirectory(), 'missing.jsonl'));
    expect([missing.code, missing.stdout]).toEqual([2, '']);
    expect(missing.stderr).toMatch(/^There is no file \S+missing\.jsonl\.\n$/);
  });

  test('finds what the example of the help asks for', async () => {
    const { apiKeys } = domain.demo();
    const [integrationId = ''] = apiKeys.map((key) => key.integrationId);
    const made = await type('key', 'create', integrationId, '--label', 'Example', '--json');
    const ids: Record<string, string> = { itg: integrationId, key: JSON.parse(made.stdout).apiKey.id };
    const { stdout: help } = await type('audit', '--help');
    const [, example = ''] = /\$ integration (.* --about .*)/.exec(help) ?? [];
    const args = example.replaceAll('"', '').replace(/(\w+)_…/, (_, prefix) => ids[prefix] ?? '');
    expect((await type(...args.split(' '))).stdout).toContain('api_key.created');
  });

  test('finds a stored record that was removed outside the service', async () => {
    expect(await type('audit', 'verify')).toMatchObject({ code: 0, stderr: '' });
    const database = new Sqlite(join(domain.dataDir, 'integration.db'));
    const second = "type = 'instance.created' order by seq desc limit 1 offset 1";
    database.exec(`delete from audit_events where id = (select id from audit_events where ${second})`);
    database.close();
    const { code, stdout } = await type('audit', 'verify');
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^missing: \S+ \d+\n$/)]);
  });

  test('may not be an operator', async () => {
    const { operatorToken, grpcAddress } = domain.demo();
    const typed = await type('audit', 'verify', '--address', grpcAddress, '--token', operatorToken);
    expect(typed.stderr).toBe(
      'This method needs a token with the right auditor; this one has the right operator. (caller_not_allowed)\n',
    );
  });
});

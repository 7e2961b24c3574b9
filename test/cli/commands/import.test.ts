import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { type ServiceProcess, serviceProcesses } from '../../support/service-process.js';
import {
  heldIntegration,
  integration,
  interruptedIntegration,
  pipedIntegration,
  sharedIntegration,
} from '../typed.js';

const services = serviceProcesses();
/** The command sends so many at once while its input goes on. */
const LINES_IN_MESSAGE = 200;

describe('integration import', () => {
  let domain: ServiceProcess;
  let instanceId: string;

  const settings = () => ({ ENVIRONMENT: 'demo', DATA_DIR: domain.dataDir });
  const type = (...args: string[]) => sharedIntegration(args, settings());
  const fileOf = (...lines: (object | string)[]) => {
    const file = join(services.newDirectory(), 'people.jsonl');
    const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
    writeFileSync(file, texts.join('\n'));
    return file;
  };
  const clientNamed = (name: string) => ({ client: { instanceId, name } });
  const clientNames = async () => {
    const { stdout } = await type(
      'call',
      'Platform/ListClients',
      JSON.stringify({ instanceId, pageSize: 500 }),
    );
    const { clients = [] } = JSON.parse(stdout) as { clients?: { name: string }[] };
    return clients.map(({ name }) => name);
  };

  beforeAll(async () => {
    domain = await services.start({ command: 'domain' });
    const { stdout } = await type('instance', 'create', 'Importland', '--json');
    instanceId = JSON.parse(stdout).instance.id;
  });

  test('creates what fits, lists by its line what does not, and ends with exit code 1', async () => {
    const file = fileOf(
      clientNamed('Northwind'),
      '',
      clientNamed(''),
      '{ cut off',
      { client: { instanceId, nmae: 'Misspelt' } },
      clientNamed('Southwind'),
    );
    const { code, stdout, stderr } = await integration(['import', file, '--ids'], settings());
    expect([code, stderr]).toEqual([1, '3 lines were refused.\n']);
    expect(stdout).toMatch(/^line 1: cli_\w{22}\nline 6: cli_\w{22}\n/);
    expect(stdout).toMatch(/^line 3: .* \(invalid_request\)\n {2}- name must not be empty$/m);
    expect(stdout).toMatch(/^line 4: .*\n {2}- line must be a JSON object$/m);
    expect(stdout).toMatch(/^line 5: .*\n {2}- client\.nmae is not a field here$/m);
    expect(stdout).toMatch(/\n2 imported, 3 refused\.\n$/);
    await expect(clientNames()).resolves.toEqual(expect.arrayContaining(['Northwind', 'Southwind']));
  });

  test('of more lines than one message holds loses none', async () => {
    const names = Array.from({ length: 450 }, (_, index) => `Client ${index}`);
    const args = ['import', fileOf(...names.map(clientNamed)), '--json'];
    const { code, stdout } = await integration(args, settings());
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      dryRun: false,
      imported: 450,
      refused: 0,
      importedLines: [],
      refusedLines: [],
    });
    expect((await clientNames()).filter((name) => name.startsWith('Client '))).toHaveLength(450);
  });

  test('of long lines sends messages that the service reads, and refuses only the line that is too long', async () => {
    const client = JSON.stringify({ instanceId, name: 'Longland' });
    const { stdout: made } = await type('call', 'Platform/CreateClient', client);
    const clientId = JSON.parse(made).client.id;
    const layer = (index: number, characters: number) => {
      const units = [{ name: 'Unit', description: 'ä'.repeat(characters) }];
      return { unitType: { clientId, name: `Layer ${index}`, units } };
    };
    const lines = Array.from({ length: 200 }, (_, index) => layer(index, 1_000));
    const file = fileOf(...lines, layer(200, 200_000), layer(201, 1));
    const { code, stdout, stderr } = await integration(['import', file], settings());
    expect([code, stderr]).toEqual([1, 'A line was refused.\n']);
    expect(stdout).toMatch(
      /^line 201: .*\n {2}- line must not be longer than 250000 bytes\n201 imported, 1 refused\.\n$/,
    );
  });

  test.each([
    ['a line', () => `${JSON.stringify(clientNamed('Piped'))}\n`, 1],
    ['nothing', () => '', 0],
  ])('reads %s that is piped in, also before the service answers', async (_, lines, imported) => {
    const { code, stdout } = await pipedIntegration(lines(), ['import', '-'], settings());
    expect([code, stdout]).toEqual([0, `${imported} imported, 0 refused.\n`]);
  });

  test('reports after Ctrl-C what was imported, and which lines were not read', async () => {
    const made = await type('instance', 'create', 'Stopland', '--json');
    const { id } = JSON.parse(made.stdout).instance;
    const line = `${JSON.stringify({ client: { instanceId: id, name: 'Northwind' } })}\n`;
    const imported = async () => {
      const { stdout } = await type('client', 'list', '--instance', id, '--limit', '500', '--json');
      return JSON.parse(stdout).length as number;
    };
    const { code, stdout, stderr } = await interruptedIntegration(
      `${line.repeat(250)}{"client"`,
      ['import', '-'],
      settings(),
      () => eventually('the first message', async () => (await imported()) === 200),
    );
    expect([code, stdout]).toEqual([1, '250 imported, 0 refused.\n']);
    expect(stderr).toBe('Interrupted: the lines after line 250 were not read.\n');
    expect(await imported()).toBe(250);
  });

  test('as a dry run writes nothing', async () => {
    const { code, stdout } = await type('import', fileOf(clientNamed('Rehearsed')), '--dry-run');
    expect([code, stdout]).toEqual([0, '1 would be imported, 0 refused.\n']);
    await expect(clientNames()).resolves.not.toContain('Rehearsed');
  });

  test('prints no control characters of the file, which could hide what was refused', async () => {
    const file = fileOf({ '\u001b[8m\n9 imported, 0 refused.': 1 }, { '\u009b8m': 1 });
    const { stdout } = await type('import', file);
    expect(stdout).toMatch(/^ {2}- ·\[8m 9 imported, 0 refused\. is not a field here$/m);
    expect(stdout).toMatch(/^ {2}- ·8m is not a field here\n0 imported, 2 refused\.$/m);
    expect((await type('import', file, '--json')).stdout).toContain('"\\u009b8m"');
  });

  test.each([
    ['the service', { client: { instanceId: 'ins_none', name: 'Refused' } }],
    ['the command', { nothing: {} }],
  ])('stops at the first line that %s refuses, if it is to', async (_, refused) => {
    const names = ['Before', 'Behind'].map((name) => `${name} ${Object.keys(refused)[0]}`);
    const [before = '', behind = ''] = names;
    const file = fileOf(clientNamed(before), refused, clientNamed(behind));
    const { code } = await type('import', file, '--stop-at-first-refusal');
    expect(code).toBe(1);
    const present = await clientNames();
    expect(names.map((name) => present.includes(name))).toEqual([true, false]);
  });

  test('names only the line at which it stopped, although it has read ahead', async () => {
    const refused = { client: { instanceId: 'ins_none', name: 'Refused' } };
    const file = fileOf(clientNamed('Kept'), refused, clientNamed('Not imported'), { nothing: {} });
    const { code, stdout, stderr } = await type('import', file, '--stop-at-first-refusal');
    expect([code, stderr]).toEqual([1, 'A line was refused.\n']);
    expect(stdout).toMatch(/^line 2: /);
    expect(stdout).not.toContain('line 4: ');
    expect(stdout).toMatch(/\n1 imported, 1 refused\.\n$/);
  });

  test('ends when the service has ended it, although what is piped in goes on', async () => {
    const refused = JSON.stringify({ client: { instanceId: 'ins_none', name: 'Refused' } });
    const messages = `${refused}\n`.repeat(LINES_IN_MESSAGE + 1);
    const args = ['import', '-', '--stop-at-first-refusal'];
    const { code, stdout, stderr } = await heldIntegration(messages, args, settings());
    expect([code, stderr]).toEqual([1, 'A line was refused.\n']);
    expect(stdout).toMatch(/^line 1: .*\n0 imported, 1 refused\.\n$/);
  });

  test('a file that exists and cannot be opened is a sentence on stderr', async () => {
    const { code, stdout, stderr } = await type('import', join(domain.dataDir, 'run/domain.sock'));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^The file \S+ cannot be read: ENXIO\b.*\n$/);
  });

  test.each([
    ['a file that is not there', ['/not/there.jsonl'], 2, /^There is no file \/not\/there\.jsonl\.\n$/],
    ['a directory', ['/'], 2, /^The file \/ cannot be read: /],
    ['a wrong token', ['--token', 'wrong', import.meta.filename], 1, /service_token_invalid/],
  ])('%s is a sentence on stderr', async (_, args, code, words) => {
    const typed = await type('import', ...args);
    expect([typed.code, typed.stdout]).toEqual([code, '']);
    expect(typed.stderr).toMatch(words);
    expect(typed.stderr).not.toMatch(/^\s+at /m);
  });
});

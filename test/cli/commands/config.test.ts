import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { asTable } from '../../../src/cli/commands/config.js';
import { describeConfig, loadConfig } from '../../../src/config/config.js';
import { mainFile } from '../../support/service-process.js';
import { integration, sharedIntegration } from '../typed.js';

const SECRETS = {
  EDGE_TOKEN: 'a-token-nobody-should-see-in-any-output',
  DATABASE_URL: 'postgres://someone:a-password-nobody-should-see@db:5432/integration?sslmode=verify-full',
};

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

  test('fits a terminal, with the purpose of each setting below it', () => {
    const environment = { DATA_DIR: '/srv/live', GATEWAY_PORT: '8080' };
    const rows = describeConfig(loadConfig(environment), environment);
    const table = asTable(rows, { columns: 80, hasColours: false, now: 0 });
    expect(table).toMatch(/^\* GATEWAY_PORT {2}8080\n {6}\S/m);
    expect(table).toMatch(/^ {2}SIGN_ON_PORT {2}4000\n {6}\S/m);
    expect(table.split('\n').filter((line) => line.length > 80)).toEqual([]);
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

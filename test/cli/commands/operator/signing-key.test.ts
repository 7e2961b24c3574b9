import { beforeAll, describe, expect, test } from '@jest/globals';
import { exchange } from '../../../support/http-exchange.js';
import { type ServiceProcess, serviceProcesses } from '../../../support/service-process.js';
import { untilAnswered } from '../../../support/turned-away.js';
import { integration, sharedIntegration, type Typed } from '../../typed.js';

const services = serviceProcesses();

interface Key {
  kid: string;
  algorithm: string;
  status: string;
}

describe('an operator', () => {
  let service: ServiceProcess;

  const settings = () => ({ ENVIRONMENT: 'demo', DATA_DIR: service.dataDir });
  const type = (...args: string[]): Promise<Typed> => sharedIntegration(['signing-key', ...args], settings());

  async function json(...args: string[]): Promise<Key[]> {
    const { code, stdout, stderr } = await type(...args, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as Key[];
  }

  const published = async () => {
    const port = Number(service.settings.SIGN_ON_PORT);
    const { body } = await untilAnswered(() => exchange(port, '/.well-known/jwks.json'));
    return (JSON.parse(body) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
  };

  beforeAll(async () => {
    service = await services.start();
  });

  test('sees a key of each algorithm that signs, as a table and for scripts', async () => {
    const { stdout } = await integration(['signing-key', 'list'], settings());
    expect(stdout).toMatch(
      /^KEY +ALGORITHM +STATUS +SIGNS FROM +SIGNED UNTIL +PUBLISHED UNTIL\n(.* active .*\n){3}$/,
    );
    const keys = await json('list');
    expect(keys.map(({ algorithm, status }) => `${algorithm} ${status}`).sort()).toEqual([
      'SIGNING_ALGORITHM_EDDSA SIGNING_KEY_STATUS_ACTIVE',
      'SIGNING_ALGORITHM_ES256 SIGNING_KEY_STATUS_ACTIVE',
      'SIGNING_ALGORITHM_RS256 SIGNING_KEY_STATUS_ACTIVE',
    ]);
  });

  test('rotates one algorithm, and every client finds the successor before it signs', async () => {
    const keys = await json('rotate', '--algorithm', 'ES256');
    expect(keys[0]).toMatchObject({
      algorithm: 'SIGNING_ALGORITHM_ES256',
      status: 'SIGNING_KEY_STATUS_PUBLISHED',
    });
    expect(await published()).toEqual(expect.arrayContaining(keys.map(({ kid }) => kid)));
  });

  test('withdraws what leaked, at once and in every published set', async () => {
    const before = await json('list');
    const after = await json('rotate', '--algorithm', 'RS256', '--compromised', '--yes');
    const leaked = before.filter(({ algorithm }) => algorithm === 'SIGNING_ALGORITHM_RS256');
    for (const { kid } of leaked) {
      expect(after.find((key) => key.kid === kid)?.status).toBe('SIGNING_KEY_STATUS_RETIRED');
      expect(await published()).not.toContain(kid);
    }
    expect(await published()).toContain(after[0]?.kid);
  });

  test('is asked before keys are withdrawn, and refused without a terminal', async () => {
    const before = await json('list');
    const { code, stdout, stderr } = await type('rotate', '--compromised');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^This cannot be undone, .* Confirm it with --yes\.\n$/);
    expect(await json('list')).toEqual(before);
  });

  test('is told which algorithms there are', async () => {
    const { code, stderr } = await type('rotate', '--algorithm', 'HS256');
    expect([code, stderr]).toEqual([2, expect.stringContaining('It must be one of RS256, ES256, EdDSA.')]);
  });
});

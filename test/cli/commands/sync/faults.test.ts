import { describe, expect, test } from '@jest/globals';
import { Sqlite } from '../../../../src/store/better-sqlite3.js';
import { type ChangingGateway, changingGateways } from '../../../sdk/drivers/changing-gateway.js';
import { type Answer, json, silence } from '../../../sdk/drivers/scripted-server.js';
import { integration, runningCommands, sharedIntegration } from '../../typed.js';
import { newFiles } from './rig.js';

const newGateway = changingGateways();
const newFile = newFiles();
const begin = runningCommands();

const LIST = /\/instance-integrations(\?|$)/;
const DIGEST = /\/changes\/digest\?/;
const connections = json([{ id: 'iin_1', applicationInstance: { instanceName: 'Harborlight Payroll' } }]);

/** A gateway with a client and a worker, where `instead` decides first what is answered. */
async function gatewayWith(
  instead: (path: string, gateway: ChangingGateway) => Answer | undefined,
): Promise<ChangingGateway> {
  const gateway = await newGateway();
  gateway.addClient('cli_1');
  gateway.set('worker', 'wrk_1');
  gateway.instead = (path) => instead(path, gateway) ?? (LIST.test(path) ? connections : undefined);
  return gateway;
}

const args = (file: string) => ['sync', '--to', file, '--once'];
const at = ({ url }: ChangingGateway) => ({ INTEGRATION_GATEWAY: url, INTEGRATION_API_KEY: 'ik_demo_1' });

describe.each(['SIGINT', 'SIGTERM'] as const)('integration sync --once, which gets %s', (signal) => {
  test.each([
    ['before it loads', LIST],
    ['during the load', /\/changes\?.*after=/],
    ['during the comparison', DIGEST],
  ])('%s, fails, and the next one goes on', async (_, place) => {
    let isSilent = true;
    const gateway = await gatewayWith((path) => (isSilent && place.test(path) ? silence : undefined));
    const file = newFile();
    const command = begin(args(file), at(gateway));
    await gateway.until(() => gateway.asked.some((asked) => place.test(asked)));
    expect(await command.interrupt(signal)).toBe(1);
    expect(command.errors.text()).toContain('Stopped before the copy was complete and compared.');
    isSilent = false;
    expect(await sharedIntegration(args(file), at(gateway))).toMatchObject({ code: 0 });
  });
});

test('integration sync --once does not call a copy equal that every comparison found changed', async () => {
  const gateway = await gatewayWith((path, changing) => {
    if (DIGEST.test(path)) {
      changing.set('worker', 'wrk_1', { id: 'wrk_1', name: 'changed again' });
    }
    return undefined;
  });
  const { code, stderr } = await integration(args(newFile()), at(gateway));
  expect([code, stderr]).toEqual([1, expect.stringMatching(/is not proven equal: its data kept changing/)]);
  expect(stderr).not.toContain('digests equal');
});

test('integration sync --once does not report a page that the file did not take because of another sync', async () => {
  const file = newFile();
  const gateway = await gatewayWith(() => undefined);
  await sharedIntegration(args(file), at(gateway));
  gateway.set('worker', 'wrk_2');
  let isMoved = false;
  gateway.instead = (path) => {
    if (!isMoved && /\/changes\?.*after=/.test(path)) {
      isMoved = true;
      const other = new Sqlite(file);
      other.exec("update sync_state set cursor = cursor || '0'");
      other.close();
    }
    return LIST.test(path) ? connections : undefined;
  };
  const { code, stdout, stderr } = await sharedIntegration(args(file), at(gateway));
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('Another program writes to the file. Run one sync per file.\n');
});

test('the help says that lines are sent at most once', async () => {
  const { stdout } = await sharedIntegration(['sync', '--help']);
  expect(stdout).toContain('Lines are sent at most once; the file is authoritative');
});

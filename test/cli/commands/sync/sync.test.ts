import { statSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Sqlite } from '../../../../src/store/better-sqlite3.js';
import { clientIds, demoEnvironment, instanceIds } from '../../../flow/sign-on/demo-environment.js';
import { call } from '../../../flow/sign-on/environment.js';
import { connectionIds } from '../../../flow/webhooks/webhook-environment.js';
import { entitiesIn } from '../../../sdk/drivers/sync/store-file.js';
import { eventually } from '../../../support/eventually.js';
import { serviceProcesses } from '../../../support/service-process.js';
import { stallingProxy } from '../../../support/stalling-proxy.js';
import { integration, runningCommands, sharedIntegration } from '../../typed.js';
import { atDemo, atGateway, newFiles } from './rig.js';

const environment = demoEnvironment();
const services = serviceProcesses();
const begin = runningCommands();
const newFile = newFiles();

const once = (file: string, ...more: string[]) =>
  sharedIntegration(['sync', '--to', file, '--once', ...more], atDemo(environment.demo.service));
const following = (file: string, ...more: string[]) =>
  begin(['sync', '--to', file, ...more], atDemo(environment.demo.service));
const newWorker = async () => {
  const { workerIds } = await environment.demo.newPerson({ worker: [clientIds.quillmere], invited: true });
  return workerIds[0] as string;
};
const equalsGateway = async (file: string) =>
  expect(entitiesIn(file)).toEqual(await atGateway(environment.demo.service));
const inFile = (file: string, sql: string) => {
  const database = new Sqlite(file);
  try {
    return database.prepare(sql).run().changes;
  } finally {
    database.close();
  }
};
/** How many requests the gateway has not answered yet; undefined if the edge says it too late. */
const unanswered = async () => {
  const metrics = await (await fetch(`${environment.demo.service.opsUrl}/metrics`)).text();
  const [, count] = /^http_requests_in_flight\{api="gateway",role="edge"\} (\d+)$/m.exec(metrics) ?? [];
  return count === undefined ? undefined : Number(count);
};
/** A comparison that finds a difference waits for changes: one of another client ends that wait. */
const endWait = async () => {
  let looks = 0;
  // Only a wait lasts for several looks.
  await eventually('a wait for changes', async () => {
    looks = (await unanswered()) ? looks + 1 : 0;
    return looks === 3;
  });
  const another = { instanceId: instanceIds.harborlight, name: 'Fennimore Tea' };
  await environment.demo.platform.createClient(another, call());
};

describe('integration sync --once', () => {
  test('loads all into a file that only its owner may read, and says that it is equal', async () => {
    const file = newFile();
    const args = ['sync', '--to', file, '--once'];
    const { code, stdout, stderr } = await integration(args, atDemo(environment.demo.service));
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(
      /^Loading Harborlight Payroll \(iin_\w+\) into .+copy\.sqlite\.\n.+copy\.sqlite is complete: \d+ entities \(client: 2, .+ worker: \d+\)\. Counts and digests equal those of the gateway\.\n$/,
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await equalsGateway(file);
  });

  test('continues with what changed since, removals included, a line each', async () => {
    const file = newFile();
    await once(file);
    const workerId = await newWorker();
    expect((await once(file)).stdout).toMatch(
      new RegExp(`^\\d{4}-\\S+ \\S+Z {2}worker {5}changed {2}${workerId}$`, 'm'),
    );
    await environment.demo.platform.offboardWorker({ workerId }, call());
    const { code, stdout, stderr } = await once(file);
    expect([code, stdout.match(/worker.*/g)]).toEqual([0, [`worker     removed  ${workerId}`]]);
    expect(stderr).toMatch(/^Going on with .+copy\.sqlite, which has \d+ entities of Harborlight/);
    await equalsGateway(file);
  });

  test('and programs that read the file do not wait for each other', async () => {
    const file = newFile();
    await once(file);
    const reader = new Sqlite(file, { readonly: true });
    const rows = reader.prepare('select id from entities').iterate();
    rows.next();
    await newWorker();
    const { code } = await once(file);
    rows.return?.();
    reader.close();
    expect(code).toBe(0);
    await equalsGateway(file);
  });

  test('as JSON is an object a line: each change, and what the copy has in the end', async () => {
    const { stdout } = await once(newFile(), '--json');
    const lines = stdout.trimEnd().split('\n');
    const [first, last] = [lines[0], lines.at(-1)].map((line) => JSON.parse(line ?? '') as object);
    expect(first).toEqual({
      kind: 'change',
      type: expect.any(String),
      id: expect.any(String),
      clientId: expect.stringMatching(/^cli_/),
      removed: false,
      changedAt: expect.stringMatching(/Z$/),
      version: expect.any(Number),
    });
    const entities = lines.length - 1;
    expect(last).toEqual({ kind: 'complete', entities, counts: expect.objectContaining({ client: 2 }) });
  });

  test('reports what differs from the gateway, and mends it', async () => {
    const file = newFile();
    await once(file);
    expect(inFile(file, "delete from entities where type = 'location'")).toBeGreaterThan(0);
    expect(inFile(file, "update entities set version = version + 1 where type = 'jobTitles'")).toBe(2);
    const [{ code, stderr }] = await Promise.all([once(file), endWait()]);
    expect(code).toBe(0);
    expect(stderr).toContain('The copy differs from the gateway:\n');
    expect(stderr).toMatch(/^ {2}location of cli_\w+: 0 in the file, \d+ at the gateway$/m);
    expect(stderr).toMatch(/^ {2}jobTitles of cli_\w+: 1 in both, in other versions$/m);
    expect(stderr).toContain('Everything was read again.\n');
    expect(stderr).not.toContain('restored');
    await equalsGateway(file);
    expect((await once(file)).stderr).not.toContain('differs');
  });

  test('reads everything again from a service with another history, and keeps nothing that it lacks', async () => {
    const file = newFile();
    const workerId = await newWorker();
    await once(file);
    const other = await services.start({ isFirst: true });
    const { code, stderr } = await sharedIntegration(['sync', '--to', file, '--once'], atDemo(other));
    expect(code).toBe(0);
    expect(stderr).toContain('The cursor has expired, because the service may lack some of what was read.');
    expect(entitiesIn(file)).toEqual(await atGateway(other));
    expect(entitiesIn(file).map(({ id }) => id)).not.toContain(workerId);
  });
});

describe('integration sync', () => {
  test('follows until Ctrl-C, with a line for each change, and the next one goes on from there', async () => {
    const file = newFile();
    const command = following(file);
    await command.errors.nextText('Following its changes; Ctrl-C ends.');
    const workerId = await newWorker();
    expect(await command.output.nextText(workerId)).toContain('worker     changed');
    expect(await command.interrupt()).toBe(0);
    const missed = await newWorker();
    const { code, stdout } = await once(file);
    expect(code).toBe(0);
    expect(stdout).toContain(missed);
    expect(stdout).not.toContain(workerId);
    await equalsGateway(file);
  });

  test('waits while the gateway is away, says so, and then goes on', async () => {
    const { service } = environment.demo;
    const gateway = await stallingProxy(service.gatewayUrl);
    const command = begin(['sync', '--to', newFile(), '--instance-integration', connectionIds.harborlight], {
      INTEGRATION_API_KEY: service.demo().apiKeys[0]?.key ?? '',
      INTEGRATION_GATEWAY: `http://${gateway.address}`,
    });
    await command.errors.nextText('Following its changes');
    gateway.cut();
    await command.errors.nextText('Trying again; Ctrl-C ends.');
    gateway.mend();
    await command.output.nextText(await newWorker());
    expect(await command.interrupt()).toBe(0);
    gateway.close();
  });

  test('ends with its reader', async () => {
    const command = following(newFile(), '--json');
    command.child.stdout?.destroy();
    expect(await command.ended).not.toBeNull();
  });

  test('killed at any moment, leaves a file that the next one completes', async () => {
    const file = newFile();
    const moments = [
      (command: ReturnType<typeof begin>) => command.errors.nextText('Loading'),
      (command: ReturnType<typeof begin>) => command.output.nextText('"kind":"change"'),
      (command: ReturnType<typeof begin>) => command.output.nextText('"kind":"complete"'),
      async (command: ReturnType<typeof begin>) => command.output.nextText(await newWorker()),
    ];
    for (const moment of moments) {
      // So that each has something to load, also if the one before was killed late.
      await newWorker();
      const command = following(file, '--json');
      await moment(command);
      await command.interrupt('SIGKILL');
    }
    const { code, stderr } = await once(file);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('differs')]);
    await equalsGateway(file);
  });

  test('takes up a file whose tables a killed program of an SDK has begun to make', async () => {
    const file = newFile();
    await once(file);
    expect(inFile(file, 'drop table sync_state')).toBe(0);
    inFile(file, 'delete from entities');
    expect((await once(file)).code).toBe(0);
    await equalsGateway(file);
  });

  test('copies what is asked for, with a key and an address that are given', async () => {
    const { service } = environment.demo;
    const [, juniper] = service.demo().apiKeys;
    const file = newFile();
    const settings = { INTEGRATION_API_KEY: juniper?.key ?? '', INTEGRATION_GATEWAY: service.gatewayUrl };
    const { code, stderr } = await integration(['sync', '--to', file, '--once'], settings);
    expect([code, stderr]).toEqual([0, expect.stringContaining(`(${connectionIds.juniper})`)]);
    expect(new Set(entitiesIn(file).map(({ clientId }) => clientId))).toContain(clientIds.ostrander);
  });

  test('ends in the middle of the first load as asked, and says that the copy is not complete', async () => {
    const command = following(newFile());
    await command.errors.nextText('Loading');
    const code = await command.interrupt();
    const said = command.errors.text();
    expect(code).toBe(said.includes('is complete') ? 0 : 1);
    expect(said).toMatch(/is complete|Ended before the copy was complete; it has [\d,]+ entit/);
  });
});

test('an end of the process while a wait is held leaves nothing behind in the service', async () => {
  const { output } = environment.demo.service;
  const linesBefore = output.lines().length;
  const file = newFile();
  const command = following(file);
  await command.errors.nextText('Following');
  const clients = entitiesIn(file).filter(({ type }) => type === 'client');
  // It compares each client once. The next request after that is the one that waits.
  await eventually('the comparison', () => {
    const lines = output.lines().slice(linesBefore);
    return lines.filter(({ operation }) => operation === 'getChangesDigest').length >= clients.length;
  });
  await eventually('a wait', unanswered);
  await command.interrupt('SIGKILL');
  await eventually('no wait', async () => (await unanswered()) === 0);
});

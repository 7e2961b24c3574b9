import { beforeAll, describe, expect, test } from '@jest/globals';
import { roleTokens } from '../../../../support/role-tokens.js';
import { type ServiceProcess, serviceProcesses } from '../../../../support/service-process.js';
import { integration, sharedIntegration, type Typed } from '../../../typed.js';

const services = serviceProcesses();

interface Context {
  userId?: string;
  workerId?: string;
  clientId: string;
}
type Row = Record<'id' | 'clientId' | 'email' | 'status' | 'accountId', string>;

describe('the people of clients', () => {
  let domain: ServiceProcess;

  const settings = () => ({ ENVIRONMENT: 'demo', DATA_DIR: domain.dataDir });
  const type = (...args: string[]): Promise<Typed> => sharedIntegration(args, settings());

  async function json<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await type(...args, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as T;
  }

  async function called<T>(method: string, request: object): Promise<T> {
    const { code, stdout, stderr } = await type('call', method, JSON.stringify(request));
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as T;
  }

  const people = () => domain.demo().people.map(({ email }) => email);

  /** Of the first person, who is this user alone. */
  async function activeUser(): Promise<Row> {
    const [email = ''] = people();
    const [user] = await json<Row[]>('user', 'list', '--email', email, '--status', 'active');
    return user as Row;
  }

  beforeAll(async () => {
    domain = await services.start({ command: 'domain', env: roleTokens });
  });

  test('are found by the address of the person, users and workers of all clients', async () => {
    // A user, a worker, and a person who is both at two clients.
    const [user, , , worker, , both] = people();
    for (const email of [user, worker, both] as string[]) {
      const { contexts } = await called<{ contexts?: Context[] }>('Platform/GetAccount', { email });
      const users = await json<Row[]>('user', 'list', '--email', email);
      const workers = await json<Row[]>('worker', 'list', '--email', email);
      const ids = [...users, ...workers].map(({ id }) => id);
      expect(ids.sort()).toEqual((contexts ?? []).map(({ userId, workerId }) => userId ?? workerId).sort());
      expect(ids).toHaveLength(email === both ? 4 : 1);
      expect(users.filter((user) => user.email !== email)).toEqual([]);
    }
  });

  test('are named by their client if they were deleted', async () => {
    const { code, stderr } = await type('user', 'list', '--email', people()[0] ?? '', '--status', 'deleted');
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('Deleted users are found in a client only: add --client with its id.'),
    ]);
  });

  test('are none for an address of no person, in a sentence', async () => {
    for (const noun of ['user', 'worker']) {
      const { code, stdout } = await type(noun, 'list', '--email', 'nobody@example.com');
      expect([code, stdout]).toEqual([0, 'There are none.\n']);
    }
  });

  test('are listed of one client, in a table, with those of an address in it', async () => {
    const user = await activeUser();
    const { stdout } = await type('user', 'list', '--client', user.clientId);
    expect(stdout).toMatch(/^USER +EMAIL +NAME +STATUS +ROLE +CLIENT +CREATED\n(usr_.*\n)+/);
    const one = await type('user', 'list', '--client', user.clientId, '--limit', '1');
    expect(one.stdout).toMatch(/^USER.*\nusr_.*\n$/);
    const found = await json<Row[]>('user', 'list', '--client', user.clientId, '--email', user.email);
    expect(found).toEqual([expect.objectContaining({ id: user.id })]);
    const { stdout: facts } = await type('user', 'show', user.id);
    expect(facts).toMatch(new RegExp(`^User +${user.id}\nEmail +${user.email}\n`));
  });

  test.each([['user'], ['worker']])('%s list requires a client or the address of a person', async (noun) => {
    const { code, stdout, stderr } = await type(noun, 'list');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^Give --client with the id of a client, or --email/);
  });

  test('are disabled and enabled again', async () => {
    const { id } = await activeUser();
    const disabled = await json<{ user: Row }>('user', 'disable', id);
    expect(disabled.user.status).toBe('USER_STATUS_INACTIVE');
    expect((await type('user', 'show', id)).stdout).toMatch(/^Status +inactive$/m);
    const enabled = await json<{ user: Row }>('user', 'enable', id);
    expect(enabled.user.status).toBe('USER_STATUS_ACTIVE');
  });

  test('as accounts are listed by the beginning of their address', async () => {
    const { accountId, email } = await activeUser();
    const beginning = email.slice(0, -3).toUpperCase();
    const { stdout } = await type('account', 'list', '--email', beginning);
    expect(stdout).toMatch(/^ACCOUNT +EMAIL +NAME +STATUS +CREATED\n/);
    expect(stdout).toMatch(new RegExp(`^${accountId} +${email}.* enabled `, 'm'));
    const one = await json<Row[]>('account', 'list', '--email', email, '--limit', '1');
    expect(one).toEqual([expect.objectContaining({ id: accountId, email })]);
    expect((await type('account', 'list', '--email', `${email}x`)).stdout).toBe('There are none.\n');
  });

  test('as accounts are shown by id or address with all that they are, and disabled everywhere', async () => {
    const { accountId, email, id } = await activeUser();
    const { contexts } = await json<{ contexts: Context[] }>('account', 'show', email);
    expect(contexts.map(({ userId }) => userId)).toContain(id);
    const shown = await type('account', 'show', accountId);
    expect(shown.stdout).toMatch(new RegExp(`^Account +${accountId}\nEmail +${email}`));
    expect(shown.stdout).toMatch(new RegExp(`^user +${id} .*yes$`, 'm'));
    expect((await type('account', 'disable', accountId)).stdout).toMatch(/^Status +disabled$/m);
    expect((await type('account', 'show', accountId)).stdout).toMatch(new RegExp(`^user +${id} .*no$`, 'm'));
    expect((await type('account', 'enable', accountId)).stdout).toMatch(/^Status +enabled$/m);
  });

  test('as accounts are erased when it is confirmed, once the person is no user and no worker', async () => {
    const [client] = await json<Row[]>('client', 'list');
    const clientId = client?.id ?? '';
    const email = 'eras.mus@example.com';
    const person = { clientId, email, firstName: 'Eras', lastName: 'Mus' };
    const { user } = await called<{ user: Row }>('Platform/CreateUser', person);
    const { worker } = await called<{ worker: Row }>('Platform/OnboardWorker', person);
    const { accountId } = user;
    expect((await type('account', 'show', email)).stdout).toMatch(/^(user|worker) +/m);
    await called('Platform/DeleteUser', { userId: user.id });
    const early = await type('account', 'erase', accountId, '--yes');
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('still a user or a worker')]);
    await type('worker', 'offboard', worker.id, '--yes');
    const left = (await type('account', 'show', email)).stdout;
    expect(left).toMatch(
      new RegExp(`^former user +${user.id} .*no\\nformer worker +${worker.id} .*no$`, 'm'),
    );
    expect((await type('account', 'erase', accountId)).code).toBe(2);
    const { stdout } = await type('account', 'erase', accountId, '--yes');
    expect(stdout).toMatch(new RegExp(`^Email +erased-${accountId}@erased.invalid$`, 'm'));
    expect(stdout).toMatch(/^Status +disabled$/m);
    expect((await type('account', 'show', email)).code).toBe(1);
    const { stdout: audit } = await type('audit', 'list', '--about', accountId);
    expect(audit).toMatch(/account\.erased/);
    const { stdout: shown } = await type('worker', 'show', worker.id);
    expect(shown).toMatch(/^Name +Erased person$/m);
    expect((await type('user', 'show', user.id)).stdout).toMatch(/^Status +deleted$/m);
  });

  test('as accounts are disabled and enabled by address too, and an unknown address is refused', async () => {
    const { accountId, email } = await activeUser();
    const statusOf = (verb: string) => json<{ account: Row }>('account', verb, email);
    expect((await statusOf('disable')).account).toMatchObject({
      id: accountId,
      status: 'ACCOUNT_STATUS_DISABLED',
    });
    expect((await statusOf('enable')).account).toMatchObject({
      id: accountId,
      status: 'ACCOUNT_STATUS_ENABLED',
    });
    const unknown = await type('account', 'disable', `x${email}`);
    expect([unknown.code, unknown.stderr]).toEqual([1, 'There is no such account. (account_not_found)\n']);
  });

  test('as workers are offboarded when it is confirmed, and then listed as such', async () => {
    const [client] = await json<Row[]>('client', 'list');
    const clientId = client?.id ?? '';
    const person = { clientId, email: 'wanda@example.com', firstName: 'Wanda', lastName: 'Off' };
    const { worker } = await called<{ worker: Row }>('Platform/OnboardWorker', person);
    const unconfirmed = await type('worker', 'offboard', worker.id);
    expect([unconfirmed.code, unconfirmed.stdout]).toEqual([2, '']);
    expect((await type('worker', 'show', worker.id)).stdout).toMatch(/^Status +active$/m);
    const { stdout } = await type('worker', 'offboard', worker.id, '--yes');
    expect(stdout).toMatch(/^Status +offboarded$/m);
    const ids = async (...args: string[]) =>
      (await json<Row[]>('worker', 'list', '--client', clientId, ...args)).map(({ id }) => id);
    await expect(ids('--status', 'offboarded')).resolves.toContain(worker.id);
    await expect(ids('--limit', '1000')).resolves.not.toContain(worker.id);
  });

  test('as workers cannot be sought by address and status at once', async () => {
    const { code, stderr } = await type('worker', 'list', '--email', 'a@example.com', '--status', 'active');
    expect(code).toBe(2);
    expect(stderr).toMatch(/--email .*cannot be used with .*--status/);
  });

  test('belong to clients, which are listed and shown', async () => {
    const { stdout } = await integration(['client', 'list'], settings());
    expect(stdout).toMatch(/^CLIENT +NAME +INSTANCE +CREATED\n(cli_.*\n)+/);
    const [client] = await json<(Row & { instanceId: string; name: string })[]>('client', 'list');
    const shown = await type('client', 'show', client?.id ?? '');
    expect(shown.stdout).toMatch(new RegExp(`^Client +${client?.id}\nName +${client?.name}\n`));
    const there = await json<Row[]>('client', 'list', '--instance', client?.instanceId ?? '');
    expect(there).toContainEqual(client);
  });
});

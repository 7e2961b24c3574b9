import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../../support/eventually.js';
import { type ServiceProcess, serviceProcesses } from '../../../../support/service-process.js';
import { type RunningCommand, runningCommands, sharedIntegration, type Typed } from '../../../typed.js';

const services = serviceProcesses();

interface EventLine {
  kind: string;
  id: string;
  type: string;
  verified: boolean;
  again: boolean;
  event: { data: { name: string; links: { self: string } } };
}

describe('an operator, with the whole service', () => {
  const begin = runningCommands();
  let service: ServiceProcess;
  let instanceId: string;
  let connectionId: string;
  let key: string;

  const settings = () => ({ ENVIRONMENT: 'demo', DATA_DIR: service.dataDir });
  const type = (...args: string[]): Promise<Typed> => sharedIntegration(args, settings());

  async function json<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await type(...args, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as T;
  }

  const createClient = (name: string) =>
    type('call', 'Platform/CreateClient', JSON.stringify({ instanceId, name }));

  async function listening(...args: string[]) {
    const listener = begin(['listen', '--json', ...args], settings());
    await listener.output.nextText('"kind":"listening"');
    const { subscriptionId } = linesOf(listener)[0] as unknown as { subscriptionId: string };
    return { listener, subscriptionId };
  }

  const linesOf = ({ output }: RunningCommand) =>
    output
      .text()
      .split('\n')
      .map((line) => JSON.parse(line) as EventLine);
  const eventsOf = (listener: RunningCommand) => linesOf(listener).filter(({ kind }) => kind === 'event');
  const eventNamed = (listener: RunningCommand, name: string) =>
    eventually(`an event of ${name}`, () => eventsOf(listener).find(({ event }) => event.data.name === name));

  beforeAll(async () => {
    service = await services.start();
    const [apiKey] = service.demo().apiKeys;
    key = apiKey?.key as string;
    connectionId = apiKey?.instanceIntegrationIds[0] as string;
    const found = await json<{ id: string; instanceId: string }[]>('integration', 'connections');
    instanceId = found.find(({ id }) => id === connectionId)?.instanceId as string;
  });

  test('learns what happens on the first connection of the demo, signed, with a link that answers', async () => {
    const { listener, subscriptionId } = await listening('--events', 'client.*');
    await createClient('Northwind');
    const { id, type: eventType, verified, event } = await eventNamed(listener, 'Northwind');
    expect([eventType, verified]).toEqual(['client.created', true]);
    const read = await fetch(`${service.gatewayUrl}${event.data.links.self}`, {
      headers: { 'x-api-key': key },
    });
    expect(read.status).toBe(200);

    const shown = await type('event', 'show', id, '--instance-integration', connectionId);
    expect(shown.stdout).toContain(event.data.links.self);
    const [made] = await json<{ status: string }[]>('delivery', 'list', '--event', id);
    expect(made).toMatchObject({ subscriptionId, eventType: 'client.created' });

    expect(await listener.interrupt()).toBe(0);
    const after = await type('subscription', 'show', subscriptionId);
    expect([after.code, after.stderr]).toEqual([1, expect.stringContaining('(subscription_not_found)')]);
  });

  test('traces a webhook to the request that caused it, in the logs of domain and worker', async () => {
    const { listener } = await listening('--events', 'client.*');
    await createClient('Larkspur Traced');
    const { id: eventId } = await eventNamed(listener, 'Larkspur Traced');
    const [delivery] = await json<{ id: string }[]>('delivery', 'list', '--event', eventId);
    const { requestId } = await json<{ requestId: string }>('delivery', 'show', delivery?.id ?? '');
    const shown = await json<{ event: { requestId: string } }>('event', 'show', eventId);
    expect(requestId).toEqual(expect.any(String));
    expect(shown.event.requestId).toBe(requestId);
    const { stdout } = await type('delivery', 'show', delivery?.id ?? '');
    expect(stdout).toMatch(new RegExp(`Caused by request\\W+${requestId}`));
    await service.output.nextLine(
      (line) => line.requestId === requestId && String(line.method).endsWith('/CreateClient'),
    );
    expect(
      await service.output.nextLine((line) => line.requestId === requestId && line.msg === 'webhook attempt'),
    ).toMatchObject({ role: 'worker', eventId, deliveryId: delivery?.id, attempt: 1, outcome: 'SUCCEEDED' });
    expect(await listener.interrupt()).toBe(0);
  });

  test('sends a test, resends it, and watches both', async () => {
    const { listener, subscriptionId } = await listening();
    const tail = begin(['delivery', 'tail', '--subscription', subscriptionId, '--since', '1m'], settings());
    const tested = await type('subscription', 'test', subscriptionId, '--event', 'worker.updated');
    expect([tested.code, tested.stderr]).toEqual([0, '']);
    const [deliveryId = ''] = /whd_\w+/.exec(tested.stdout) ?? [];
    const { delivery } = await json<{ delivery: { id: string } }>('delivery', 'resend', deliveryId);
    await tail.output.nextText('made (test)');
    await tail.output.nextText('made (resend)');
    await eventually('the resent one', () => tail.output.text().includes(`${delivery.id}  worker.updated`));
    const events = await eventually('both', () => eventsOf(listener).length === 2 && eventsOf(listener));
    expect(events).toMatchObject([
      { type: 'worker.updated', verified: true, again: false },
      { type: 'worker.updated', verified: true, again: true, id: events[0]?.id },
    ]);
    expect(await tail.interrupt()).toBe(0);
  });

  test('disables, enables, and gets what was missed by the command that is offered', async () => {
    const { listener, subscriptionId } = await listening('--events', 'client.created');
    await type('subscription', 'disable', subscriptionId);
    await createClient('Missed');
    const { stdout } = await type('subscription', 'enable', subscriptionId);
    const [, command = ''] = /\n {2}integration (event replay .*)\n/.exec(stdout) ?? [];
    const replayed = await type(...command.split(' '));
    expect([replayed.code, replayed.stderr]).toEqual([0, '']);
    expect(replayed.stdout).toMatch(/^Deliveries made: 1\./);
    await expect(eventNamed(listener, 'Missed')).resolves.toMatchObject({ verified: true, again: false });
    expect(await listener.interrupt()).toBe(0);
  });

  test('sees the signing secret when it is made and never again', async () => {
    const url = 'http://127.0.0.1:9/';
    const made = await type(
      'subscription',
      'create',
      '--instance-integration',
      connectionId,
      '--url',
      url,
      '--events',
      '*',
    );
    const [subscriptionId = ''] = /whs_\w+/.exec(made.stdout) ?? [];
    const [secret = ''] = /whsec_[\w+/=]+/.exec(made.stdout) ?? [];
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    for (const args of [
      ['subscription', 'show', subscriptionId],
      ['subscription', 'list', '--json'],
      ['audit', 'list', '--json'],
    ]) {
      const { stdout } = await type(...args);
      expect(stdout).toContain(subscriptionId);
      expect(stdout).not.toContain(secret);
    }
    await service.logged();
    expect(service.output.text() + service.errors.text()).not.toContain(secret);
    expect((await type('subscription', 'delete', subscriptionId, '--yes')).code).toBe(0);
  });
});

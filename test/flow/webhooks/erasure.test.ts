import { expect, test } from '@jest/globals';
import { instanceIds } from '../sign-on/demo-environment.js';
import { call } from '../sign-on/environment.js';
import { webhookEnvironment } from './webhook-environment.js';

const environment = webhookEnvironment();

const PERSON = { email: 'zebulon@quixworth.example', firstName: 'Zebulon', lastName: 'Quixworth' };
const HOME = { address1: 'Nettlewick Lane 7', city: 'Umberfold', isoCountryCode: 'DK' };
const OF_THE_PERSON = /zebulon|quixworth|nettlewick|umberfold|\+45/i;

test('an erased person is told to receivers, and is nameless at the gateway, in the sequence and in a resend', async () => {
  const { demo } = environment;
  const { platform } = demo;
  const clientId = await demo.newClient(instanceIds.harborlight);
  const all = await demo.subscribe({ clientIds: [clientId] });
  const invitation = { clientId, ...PERSON, withoutManager: true };
  const userId = (await platform.createUser(invitation, call())).user?.id ?? '';
  const onboarding = {
    ...{ clientId, ...PERSON, phone: '+45 98 76 54 32', address: HOME },
    ...{ jobTitles: ['Welder'], unitIds: [] },
  };
  const { worker } = await platform.onboardWorker(onboarding, call());
  const { id: workerId = '', accountId = '' } = worker ?? {};
  await platform.deleteUser({ userId }, call());
  await platform.offboardWorker({ workerId }, call());
  await all.receiver.until('four events', (requests) => requests.length >= 4 || undefined);
  await platform.eraseAccount({ accountId }, call());

  const received = await all.receiver.until('six events', (requests) =>
    requests.length >= 6 ? requests : undefined,
  );
  const newestOf = (id: string) =>
    received
      .map(({ event }) => event)
      .filter(({ entity }) => entity.id === id)
      .sort((one, other) => one.sequence - other.sequence)
      .at(-1);
  expect(newestOf(userId)).toMatchObject({
    type: 'user.updated',
    data: {
      ...{ email: `erased-${userId}@erased.invalid`, status: 'DELETED' },
      ...{ firstName: null, lastName: null, fullName: null },
    },
  });
  expect(newestOf(workerId)).toMatchObject({
    type: 'worker.updated',
    data: {
      ...{ email: `erased-${workerId}@erased.invalid`, fullName: 'Erased person', phone: null },
      ...{ jobTitles: ['Welder'], offboardedAt: expect.any(String) },
      location: { address1: null, city: null, isoCountryCode: null },
    },
  });

  for (const request of received.filter(({ event }) => [userId, workerId].includes(event.entity.id))) {
    const answer = await demo.follow(request);
    const text = await answer.text();
    expect([answer.status, text]).toEqual([200, expect.not.stringMatching(OF_THE_PERSON)]);
  }
  const [connection] = /(?<=\/)iin_\w+/.exec(received[0]?.event.data.links.self ?? '') ?? [''];
  const { apiKeys } = demo.service.demo();
  const key = apiKeys.find((each) => each.instanceIntegrationIds.includes(connection))?.key ?? '';
  const changes = await fetch(
    `${demo.service.gatewayUrl}/v1/instance-integrations/${connection}/changes?limit=1000`,
    { headers: { 'x-api-key': key } },
  );
  expect([changes.status, await changes.text()]).toEqual([200, expect.not.stringMatching(OF_THE_PERSON)]);

  const first = received.find(({ event }) => event.type === 'worker.onboarded');
  const { delivery, body } = await demo.ended(all, first?.eventId ?? '');
  expect(first?.body.toString()).toMatch(OF_THE_PERSON);
  expect(Buffer.from(body).toString()).not.toMatch(OF_THE_PERSON);
  await demo.webhooks.resendDelivery({ deliveryId: delivery?.id ?? '' }, call());
  const resent = await all.receiver.until('the resend', (requests) =>
    requests.filter(({ eventId }) => eventId === first?.eventId).at(1),
  );
  expect(resent.event).toMatchObject({ type: 'worker.onboarded', data: { fullName: 'Erased person' } });
  expect(resent.body.toString()).not.toMatch(OF_THE_PERSON);
});

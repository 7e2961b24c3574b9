import { expect, test } from '@jest/globals';
import { describeEachDatabase } from '../../../../support/databases.js';
import { sendingRig } from './rig.js';

const EVENTS = 40;
const SUBSCRIPTIONS = 25;
const RANDOM_LENGTH = 16;

/** How many of the last places of two ids hold the same character. */
function sharedPlaces(one: string, other: string): number {
  const start = one.length - RANDOM_LENGTH;
  return [...one].filter((character, place) => place >= start && character === other[place]).length;
}

describeEachDatabase('what one transaction records', (under) => {
  async function recorded() {
    const rig = await sendingRig(under);
    for (let count = 0; count < SUBSCRIPTIONS; count += 1) {
      await rig.subscribe();
    }
    const made: string[] = [];
    await rig.platform.run(async (changes) => {
      for (let count = 0; count < EVENTS; count += 1) {
        const event = rig.event() as { entity: { id: string } };
        made.push(event.entity.id);
        await changes.recordEvent(event as never);
      }
    });
    const events = await rig.database.reader.selectFrom('events').orderBy('seq').selectAll().execute();
    return { rig, made, events, deliveries: await rig.deliveries() };
  }

  test('has ids with sixteen random characters at the end, so that none discloses the number of others', async () => {
    const { events, deliveries } = await recorded();
    expect(deliveries).toHaveLength(EVENTS * SUBSCRIPTIONS);
    for (const rows of [events, deliveries]) {
      const ids = rows.map(({ id }) => id);
      const pairs = ids.slice(1).map((id, index) => [ids[index] as string, id] as const);
      const shared = pairs.reduce((sum, [one, next]) => sum + sharedPlaces(one, next), 0);
      // Of two random characters one pair in 62 is the same; six standard deviations more are no chance.
      const places = pairs.length * RANDOM_LENGTH;
      expect(shared).toBeLessThan(places / 62 + 6 * Math.sqrt(places / 62));
      expect(pairs.filter(([one, next]) => one > next).length).toBeGreaterThan(0);
    }
  });

  test('keeps its order in a separate field', async () => {
    const { made, events, deliveries } = await recorded();
    expect(events.map(({ entity_id }) => entity_id)).toEqual(made);
    const seqOf = new Map(events.map(({ id, seq }) => [id, seq]));
    expect(deliveries.map(({ event_seq }) => event_seq)).toEqual(
      deliveries.map(({ event_id }) => seqOf.get(event_id)).sort((one, other) => Number(one) - Number(other)),
    );
  });

  test('is claimed in that order', async () => {
    const { rig, deliveries } = await recorded();
    const first = deliveries.filter(
      ({ subscription_id }) => subscription_id === deliveries[0]?.subscription_id,
    );
    const claim = await rig.claim({ freeSlots: SUBSCRIPTIONS * 10, maxRunningPerSubscription: 10 });
    const claimed = claim.deliveries.filter(
      ({ target }) => claim.targets[target]?.subscriptionId === first[0]?.subscription_id,
    );
    expect(claimed.map(({ id }) => id)).toEqual(first.slice(0, 10).map(({ id }) => id));
  });
});

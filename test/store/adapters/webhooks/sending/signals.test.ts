import { expect, test } from '@jest/globals';
import { describeEachDatabase } from '../../../../support/databases.js';
import { refused, sendingRig, WORKER } from './rig.js';

describeEachDatabase('a signal of a workflow', (under) => {
  /** Three deliveries of one subscription with a failed first attempt. */
  async function failed() {
    const rig = await sendingRig(under);
    const subscriptionId = await rig.subscribe();
    for (let count = 0; count < 3; count += 1) {
      await rig.happen();
    }
    const ids = (await rig.claim()).deliveries.map(({ id }) => id).sort();
    await rig.record(...ids.map((id) => refused(id)));
    const audited = async () => {
      const rows = await rig.database.reader.selectFrom('audit_events').selectAll().execute();
      return rows.map(({ type, actor_type, actor_id, request_id, subject_id, attributes }) => ({
        type,
        actor: { type: actor_type, id: actor_id, requestId: request_id },
        subject: subject_id,
        deliveries: String(JSON.parse(attributes).delivery_ids).split(' ').sort(),
      }));
    };
    return { ...rig, ids, audited, told: { actor: WORKER, subject: subscriptionId } };
  }

  test('that gives deliveries up is on record once, with those that it ended', async () => {
    const { ids, giveUp, audited, told } = await failed();
    const [first, ...others] = ids as [never, never, never];
    await giveUp(first);
    await giveUp(first, ...others);
    await giveUp(first, ...others);
    const type = 'deliveries.given_up';
    expect(await audited()).toEqual([
      { ...told, type, deliveries: [first] },
      { ...told, type, deliveries: others },
    ]);
  });

  test('that makes deliveries due is on record once, with those that it made due', async () => {
    const { ids, makeDue, audited, told } = await failed();
    const [, ...others] = ids;
    const attempts = others.map((id) => ({ id, number: 2, bySignal: true }));
    await makeDue(...attempts);
    await makeDue(...attempts);
    await makeDue(...attempts.map((attempt) => ({ ...attempt, number: 3 })));
    expect(await audited()).toEqual([{ ...told, type: 'deliveries.retried', deliveries: others }]);
  });

  test('is told from the time of a workflow, which is not on record', async () => {
    const { ids, makeDue, claim, audited, told } = await failed();
    const [first, ...others] = ids as [never, never, never];
    const byTime = others.map((id) => ({ id, number: 2, bySignal: false }));
    await makeDue({ id: first, number: 2, bySignal: true }, ...byTime);
    expect((await claim()).deliveries).toMatchObject([{ id: first }]);
    expect(await audited()).toEqual([{ ...told, type: 'deliveries.retried', deliveries: [first] }]);
  });
});

import { expect, test } from '@jest/globals';
import { closeAll } from '../../../../src/domain/webhooks/subscriptions/status.js';

type Closing = Parameters<typeof closeAll>[0];

test('a subscription whose deliveries are locked keeps no other from being closed', async () => {
  const closed = ['whs_locked', 'whs_other', 'whs_last'].map((id) => ({ id, isDeleted: false }));
  const outcomes = [Promise.reject(new Error('locked')), Promise.resolve(2), Promise.resolve(3)];
  outcomes[0]?.catch(() => undefined);
  const unitOfWork = {
    rows: { deliveries: { leftOpen: () => Promise.resolve(closed) } },
    run: () => outcomes.shift(),
  } as unknown as Closing;
  await expect(closeAll(unitOfWork, new AbortController().signal)).rejects.toThrow('locked');
  expect(outcomes).toEqual([]);
});

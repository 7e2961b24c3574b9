import { outboxOf } from '../adapters/webhooks/sending/outbox.js';
import { type Check, foundIn, lengthOf } from './check.js';

/** Similar to the alert DeliveriesNotBegun: over one minute, for two minutes. */
const LATE_MS = 120_000;

export const deliveriesAreOnTime: Check<{ now: number }> = {
  name: 'oldest-delivery',
  about: `Deliveries get their first attempt within ${lengthOf(LATE_MS)}.`,
  severity: 'warning',
  remedy:
    'Check the worker (`/readyz/worker`, its log) and slow receivers: `integration delivery list --status pending`. The runbook of DeliveriesNotBegun has the steps.',
  find: async (reader, { now }) => {
    const { oldest } = await outboxOf(reader);
    const untried = oldest.filter(({ stage, isFailing }) => stage === 'first' && !isFailing);
    const ages = untried.map(({ since }) => now - since);
    const age = Math.max(0, ...ages);
    return foundIn(
      age > LATE_MS ? [`the oldest delivery without an attempt is ${lengthOf(age)} old`] : [],
      ages.length > 0 ? `The oldest waits for ${lengthOf(age)}.` : 'None waits.',
    );
  },
};

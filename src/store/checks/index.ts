import type { Check } from './check.js';
import { eventsWithoutDeliveries } from './events-without-deliveries.js';
import { answersOfNothing, keysWithoutAnswers } from './idempotency.js';

/** Checks of rows for damage, in the order of the report. */
export const damageChecks: readonly Check[] = [eventsWithoutDeliveries, keysWithoutAnswers, answersOfNothing];

import type { Check } from './check.js';
import { eventsWithoutDeliveries } from './events-without-deliveries.js';
import { answersOfNothing, keysWithoutAnswers } from './idempotency.js';

/** In the order of the report. */
export const checks: readonly Check[] = [eventsWithoutDeliveries, keysWithoutAnswers, answersOfNothing];

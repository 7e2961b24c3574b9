import { describeChanges } from './changes.js';
import { describeExchange } from './exchange.js';
import type { Driven } from './line-driver.js';
import { describeLinks } from './links.js';
import { describePaging } from './paging.js';
import { describeReads } from './reads.js';
import { describeRealGateway } from './real-gateway.js';
import { describeService } from './service.js';
import { describeSignOn } from './sign-on.js';
import { describeSync } from './sync.js';
import { describeWebhooks } from './webhooks.js';

/** All that an SDK has to do, whatever its language. */
export function describeBehaviour(driver: Driven): void {
  for (const behaviour of [
    describeReads,
    describePaging,
    describeLinks,
    describeChanges,
    describeSync,
    describeRealGateway,
    describeSignOn,
    describeExchange,
    describeWebhooks,
    describeService,
  ]) {
    behaviour(driver);
  }
}

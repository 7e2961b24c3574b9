import { describeChanges } from './changes.js';
import { describeExchange } from './exchange.js';
import type { Driven } from './line-driver.js';
import { describeLinks } from './links.js';
import { describePaging } from './paging.js';
import { describeReads } from './reads.js';
import { describeRealGateway } from './real-gateway.js';
import { describeService } from './service.js';
import { describeSignOn } from './sign-on.js';
import { describeComparing } from './sync/comparing.js';
import { describeSyncFile } from './sync/file.js';
import { describeFollowing } from './sync/following.js';
import { describeSlices } from './sync/slices.js';
import { describeWebhooks } from './webhooks.js';

/** All that an SDK has to do, whatever its language. */
export function describeBehaviour(driver: Driven): void {
  for (const behaviour of [
    describeReads,
    describePaging,
    describeLinks,
    describeChanges,
    describeFollowing,
    describeComparing,
    describeSlices,
    describeSyncFile,
    describeRealGateway,
    describeSignOn,
    describeExchange,
    describeWebhooks,
    describeService,
  ]) {
    behaviour(driver);
  }
}

import type { DirectoryServiceService } from '../../../generated/proto/integration/directory/v1/directory.js';
import type { RpcClient } from '../../rpc/client.js';
import type { Turns } from '../http/turns.js';
import type { addressesUnder } from './addresses.js';
import type { EntityTags } from './entity-tag.js';
import type { ListsUnderWay } from './lists-under-way.js';
import type { AtOnce } from './waits/at-once.js';
import type { ChangeNews } from './waits/change-news.js';

/** What the handlers of the gateway use. */
export interface GatewayDependencies {
  directory: RpcClient<typeof DirectoryServiceService>;
  entityTags: EntityTags;
  lists: ListsUnderWay;
  /** Of requests that wait for a change. */
  waits: ListsUnderWay;
  news: ChangeNews;
  /** Limits the reads of those that a change has woken. */
  wokenReads: AtOnce;
  /** Spreads the pages of lists over turns, so that short answers come in between. */
  pageTurns: Turns;
  addressOf: ReturnType<typeof addressesUnder>;
}

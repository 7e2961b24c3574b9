import type { DirectoryServiceService } from '../../../generated/proto/integration/directory/v1/directory.js';
import type { RpcClient } from '../../rpc/client.js';
import type { Turns } from '../http/turns.js';
import type { addressesUnder } from './addresses.js';
import type { EntityTags } from './entity-tag.js';
import type { ListsUnderWay } from './lists-under-way.js';

/** What the handlers of the gateway work with. */
export interface GatewayDependencies {
  directory: RpcClient<typeof DirectoryServiceService>;
  entityTags: EntityTags;
  lists: ListsUnderWay;
  /** In which the pages of lists are written, so that short answers come in between. */
  pageTurns: Turns;
  addressOf: ReturnType<typeof addressesUnder>;
}

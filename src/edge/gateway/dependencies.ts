import type { DirectoryServiceService } from '../../../generated/proto/integration/directory/v1/directory.js';
import type { RpcClient } from '../../rpc/client.js';
import type { addressesUnder } from './addresses.js';
import type { EntityTags } from './entity-tag.js';

/** What the handlers of the gateway work with. */
export interface GatewayDependencies {
  directory: RpcClient<typeof DirectoryServiceService>;
  entityTags: EntityTags;
  addressOf: ReturnType<typeof addressesUnder>;
}

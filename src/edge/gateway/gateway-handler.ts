import type { operations } from '../../../generated/openapi/gateway.js';
import type { DirectoryServiceService } from '../../../generated/proto/integration/directory/v1/directory.js';
import type { AtOnce } from '../../fairness/at-once.js';
import type { RpcClient } from '../../rpc/client.js';
import type { Handler } from '../contract/typed-handler.js';
import type { EntityTags } from '../http/entity-tags.js';
import type { Identity } from './api-key.js';
import type { ChangeNews } from './change-news.js';
import type { RequestsUnderWay } from './requests-under-way.js';

export type GatewayHandler<Id extends keyof operations> = Handler<
  operations[Id],
  GatewayDependencies,
  Identity
>;

/** What the handlers of the gateway use. */
export interface GatewayDependencies {
  directory: RpcClient<typeof DirectoryServiceService>;
  entityTags: EntityTags;
  lists: RequestsUnderWay;
  /** Of requests that wait for a change. */
  waits: RequestsUnderWay;
  news: ChangeNews;
  /** Limits the reads of those that a change has woken. */
  wokenReads: AtOnce;
  /** Spreads the pages of lists over turns, so that short answers come in between. */
  pageTurns: AtOnce;
  /** The public address of the gateway, for links. */
  gatewayUrl: string;
}

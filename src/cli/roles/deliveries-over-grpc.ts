import {
  type ClaimDeliveriesResponse,
  DeliveryServiceService,
} from '../../../generated/proto/integration/webhooks/v1/sending.js';
import type { DeliveryClient } from '../../delivery/relay.js';
import type { RpcChannel } from '../../rpc/client.js';

const NOTHING: ClaimDeliveriesResponse = { deliveries: [], targets: [], bodies: [] };

/** The relay's calls of the domain. Claims are repeated, so they share one call. */
export function deliveriesOver(domain: RpcChannel): DeliveryClient {
  const { recordAttempts } = domain.clientOf(DeliveryServiceService);
  const claims = domain.conversation(DeliveryServiceService.keepClaimingDeliveries);
  return {
    recordAttempts,
    claimDeliveries: async (request, call) => {
      const { claim } = await claims.ask({ claim: request }, call);
      return claim ?? NOTHING;
    },
  };
}

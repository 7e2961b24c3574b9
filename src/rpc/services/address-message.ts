import type { Address as AddressMessage } from '../../../generated/proto/integration/platform/v1/clients.js';
import type { Address } from '../../domain/directory/names.js';

/** The same in the contract of the directory and in that of the platform. */
export function toAddressMessage(address: Address): AddressMessage {
  return {
    address1: address.address1 ?? undefined,
    address2: address.address2 ?? undefined,
    city: address.city ?? undefined,
    isoCountryCode: address.isoCountryCode ?? undefined,
    postalCode: address.postalCode ?? undefined,
    zoneCode: address.zoneCode ?? undefined,
  };
}

import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { AttemptFault } from './attempt-fault.js';
import { HostNames, type Resolve } from './host-names.js';
import { LOOPBACK_NETWORKS, type Network, Networks, specialNameOf } from './networks.js';

export interface AddressGuardOptions {
  /** Where deliveries may go although it is no public network. */
  allowedNetworks: readonly Network[];
  /** In the demo, receivers are on the same machine. */
  allowLoopback: boolean;
  resolve?: Resolve;
}

/** Keeps deliveries inside the public internet: a subscription must not make this service knock at doors behind its own walls. */
export class AddressGuard {
  readonly #allowed: Networks;
  readonly #names: HostNames;

  constructor({ allowedNetworks, allowLoopback, resolve }: AddressGuardOptions) {
    this.#allowed = new Networks([...allowedNetworks, ...(allowLoopback ? LOOPBACK_NETWORKS : [])]);
    this.#names = new HostNames(resolve);
  }

  /**
   * Why deliveries must not go to the host, as what follows its name; undefined where they may. A name that nobody can resolve now may be
   * resolved later, or elsewhere: it is checked again, and what was checked is dialled, whenever a connection is made.
   */
  async refusalOf({ hostname }: URL): Promise<string | undefined> {
    const literal = literalOf(hostname);
    if (literal !== undefined) {
      const name = this.#refusedAs(literal);
      return name && `is ${name}`;
    }
    const addresses = await this.#names.addressesOf(hostname).catch(() => []);
    return this.#refusalOfAll(addresses);
  }

  /** The addresses of a host that may be dialled; a fault says why there are none. */
  async addressesOf(hostname: string): Promise<readonly LookupAddress[]> {
    const literal = literalOf(hostname);
    const addresses =
      literal === undefined
        ? await this.#names.addressesOf(hostname)
        : [{ address: literal, family: isIP(literal) }];
    const allowed = addresses.filter(({ address }) => this.#refusedAs(address) === undefined);
    if (allowed.length > 0) {
      return allowed;
    }
    const refusal = literal === undefined ? this.#refusalOfAll(addresses) : `is ${this.#refusedAs(literal)}`;
    throw new AttemptFault(
      refusal === undefined ? 'NAME_NOT_RESOLVED' : 'ADDRESS_REFUSED',
      refusal === undefined
        ? `The host name ${hostname} has no address.`
        : `Nothing was sent: ${hostname} ${refusal}, where deliveries must not go.`,
    );
  }

  /** One public address is enough; only that one is dialled then. */
  #refusalOfAll(addresses: readonly LookupAddress[]): string | undefined {
    const names = addresses.map(({ address }) => this.#refusedAs(address));
    return names.length === 0 || names.includes(undefined)
      ? undefined
      : `resolves to ${addresses[0]?.address}, which is ${names[0]}`;
  }

  #refusedAs(address: string): string | undefined {
    return this.#allowed.has(address) ? undefined : specialNameOf(address);
  }
}

/** The address, if a URL names one; URLs have written every short and odd form of it out. */
function literalOf(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

import type { LookupAddress } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { AttemptFault } from './attempt.js';
import { HostNames, type Resolve } from './host-names.js';

export interface AddressGuardOptions {
  /** On live, nothing is sent unencrypted. */
  httpsOnly?: boolean;
  /** Private networks that deliveries may go to. */
  allowedNetworks: readonly Network[];
  /** In the demo, receivers are on the same machine. */
  allowLoopback: boolean;
  /** Ports of receivers; any port of loopback, where that is allowed. */
  allowedPorts?: readonly number[];
  resolve?: Resolve;
}

const HTTP_PORTS = [80, 443, 8_080, 8_443];

/**
 * Keeps deliveries inside the public internet, so that subscriptions cannot reach internal networks, and on
 * live encrypted.
 */
export class AddressGuard {
  readonly #allowed: Networks;
  readonly #names: HostNames;
  readonly #ports: readonly number[];
  readonly #anyPort: Networks;
  readonly #httpsOnly: boolean;

  constructor({
    httpsOnly = false,
    allowedNetworks,
    allowLoopback,
    allowedPorts = HTTP_PORTS,
    resolve,
  }: AddressGuardOptions) {
    this.#httpsOnly = httpsOnly;
    this.#allowed = new Networks([...allowedNetworks, ...(allowLoopback ? LOOPBACK_NETWORKS : [])]);
    this.#anyPort = new Networks(allowLoopback ? LOOPBACK_NETWORKS : []);
    this.#ports = allowedPorts;
    this.#names = new HostNames(resolve);
  }

  /**
   * Why deliveries must not go to the host, as a text that follows its name; undefined where they may. An
   * unresolvable name is accepted: each connection resolves and checks again, and dials what it checked.
   */
  async refusalOf(url: URL): Promise<string | undefined> {
    const insecurity = this.#insecurityOf(url);
    if (insecurity !== undefined) {
      return insecurity;
    }
    const addresses = await this.#lookUp(url).catch(() => []);
    return this.#refusalOfAll(url, addresses) ?? this.#refusalOfPort(url, this.#allowedOf(addresses));
  }

  /** The addresses of a host that may be dialled; throws a fault if there are none. */
  async addressesOf(url: URL): Promise<readonly LookupAddress[]> {
    const insecurity = this.#insecurityOf(url);
    if (insecurity !== undefined) {
      const message = `Nothing was sent: the address of the subscription ${insecurity}.`;
      throw new AttemptFault('ADDRESS_REFUSED', message);
    }
    const { hostname } = url;
    const addresses = await this.#lookUp(url);
    const allowed = this.#allowedOf(addresses);
    const refusal = this.#refusalOfAll(url, addresses);
    if (refusal !== undefined) {
      const message = `Nothing was sent: ${hostname} ${refusal}, where deliveries must not go.`;
      throw new AttemptFault('ADDRESS_REFUSED', message);
    }
    if (allowed.length === 0) {
      throw new AttemptFault('NAME_NOT_RESOLVED', `The host name ${hostname} has no address.`);
    }
    const refusalOfPort = this.#refusalOfPort(url, allowed);
    if (refusalOfPort !== undefined) {
      throw new AttemptFault('ADDRESS_REFUSED', `Nothing was sent: ${hostname} ${refusalOfPort}.`);
    }
    return allowed;
  }

  async #lookUp({ hostname }: URL): Promise<readonly LookupAddress[]> {
    const literal = literalOf(hostname);
    return literal === undefined
      ? this.#names.addressesOf(hostname)
      : [{ address: literal, family: isIP(literal) }];
  }

  #insecurityOf({ protocol }: URL): string | undefined {
    return this.#httpsOnly && protocol !== 'https:' ? 'must be https' : undefined;
  }

  #allowedOf(addresses: readonly LookupAddress[]): readonly LookupAddress[] {
    return addresses.filter(({ address }) => this.#refusedAs(address) === undefined);
  }

  /** One public address suffices; only that one is dialled. */
  #refusalOfAll({ hostname }: URL, addresses: readonly LookupAddress[]): string | undefined {
    const names = addresses.map(({ address }) => this.#refusedAs(address));
    if (names.length === 0 || names.includes(undefined)) {
      return undefined;
    }
    return literalOf(hostname) === undefined
      ? `resolves to ${addresses[0]?.address}, which is ${names[0]}`
      : `is ${names[0]}`;
  }

  /** Ports of other services, such as mail and databases, are refused. */
  #refusalOfPort(url: URL, addresses: readonly LookupAddress[]): string | undefined {
    const port = portOf(url);
    const isAllowed =
      this.#ports.includes(port) ||
      (addresses.length > 0 && addresses.every(({ address }) => this.#anyPort.has(address)));
    return isAllowed
      ? undefined
      : `has port ${port}, which is not among those that webhooks may go to (${this.#ports.join(', ')})`;
  }

  #refusedAs(address: string): string | undefined {
    return this.#allowed.has(address) ? undefined : specialNameOf(address);
  }
}

function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}

/** The address, if the URL has one; the URL parser normalizes all spellings. */
function literalOf(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

/** A block of addresses, as in settings. */
export interface Network {
  address: string;
  prefix: number;
  family: 'ipv4' | 'ipv6';
}

/** Address blocks that are not public unicast (RFC 6890 and later registries). The first match names it. */
export const SPECIAL_NETWORKS: readonly { name: string; blocks: readonly string[] }[] = [
  { name: 'a loopback address', blocks: ['127.0.0.0/8', '::1/128'] },
  { name: 'a link-local address', blocks: ['169.254.0.0/16', 'fe80::/10'] },
  {
    name: 'a private address',
    blocks: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7', 'fec0::/10'],
  },
  // Azure's services for its virtual machines.
  { name: 'an address of the cloud platform', blocks: ['168.63.129.16/32'] },
  { name: 'a multicast or broadcast address', blocks: ['224.0.0.0/4', '255.255.255.255/32', 'ff00::/8'] },
  {
    // Most embed an IPv4 address, which would need its own check; receivers do not need them.
    name: 'an address that stands for another',
    blocks: [
      '::ffff:0:0/96',
      '::/96',
      '64:ff9b::/96',
      '64:ff9b:1::/48',
      '2001::/32',
      '2002::/16',
      '192.88.99.0/24',
    ],
  },
  {
    name: 'an address that is reserved',
    blocks: [
      '0.0.0.0/8',
      '192.0.0.0/24',
      '192.0.2.0/24',
      '198.18.0.0/15',
      '198.51.100.0/24',
      '203.0.113.0/24',
      '240.0.0.0/4',
      '2001::/23',
      '2001:db8::/32',
      '3ffe::/16',
      '3fff::/20',
      // Everything but global unicast, 2000::/3.
      '::/3',
      '4000::/2',
      '8000::/1',
    ],
  },
];

/** Compares addresses with blocks of their family only: a BlockList also matches IPv4-mapped addresses. */
class Networks {
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() };

  constructor(networks: readonly Network[]) {
    for (const { address, prefix, family } of networks) {
      this.#lists[family].addSubnet(address, prefix, family);
    }
  }

  has(address: string): boolean {
    const family = familyOf(address);
    return this.#lists[family].check(address, family);
  }
}

const LOOPBACK_NETWORKS: readonly Network[] = ['127.0.0.0/8', '::1/128'].map(networkOf);

const special = SPECIAL_NETWORKS.map(({ name, blocks }) => ({
  name,
  networks: new Networks(blocks.map(networkOf)),
}));

/** The kind of a special address, such as "a loopback address"; undefined for public ones. */
function specialNameOf(address: string): string | undefined {
  return special.find(({ networks }) => networks.has(address))?.name;
}

function networkOf(block: string): Network {
  const [address = '', prefix] = block.split('/');
  return { address, prefix: Number(prefix), family: familyOf(address) };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

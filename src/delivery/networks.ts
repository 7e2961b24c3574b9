import { BlockList, isIP } from 'node:net';

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
export class Networks {
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

export const LOOPBACK_NETWORKS: readonly Network[] = ['127.0.0.0/8', '::1/128'].map(networkOf);

const special = SPECIAL_NETWORKS.map(({ name, blocks }) => ({
  name,
  networks: new Networks(blocks.map(networkOf)),
}));

/** The kind of a special address, such as "a loopback address"; undefined for public ones. */
export function specialNameOf(address: string): string | undefined {
  return special.find(({ networks }) => networks.has(address))?.name;
}

function networkOf(block: string): Network {
  const [address = '', prefix] = block.split('/');
  return { address, prefix: Number(prefix), family: familyOf(address) };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

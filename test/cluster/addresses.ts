/** Ports of the address that people use. */
export interface PublicPorts {
  signOn: number;
  gateway: number;
  grpc: number;
  /** One for each edge: only that of the first is used by people. */
  demoApps: readonly [number, number];
  haproxy: number;
  prometheus: number;
  /** Of HAProxy in front of both nodes of Temporal. */
  temporal: number;
}

export const USUAL_PORTS: PublicPorts = {
  signOn: 4000,
  gateway: 4001,
  grpc: 4002,
  demoApps: [4004, 4014],
  haproxy: 8404,
  prometheus: 9090,
  temporal: 7233,
};

/** As in the files of `deploy/cluster`; other clusters of this machine have others. */
export const USUAL_NETWORK = '127.0.0';

/** The last number of the addresses of all parts, as in the files of `deploy/cluster`. */
export const HOSTS = {
  primary: 11,
  replica: 12,
  pgbouncer: 13,
  'temporal-1': 14,
  'temporal-2': 15,
  'domain-1': 21,
  'domain-2': 22,
  'worker-1': 31,
  'worker-2': 32,
  'edge-1': 41,
  'edge-2': 42,
} as const;

export type HostName = keyof typeof HOSTS;

/** The same on each address. */
export const PORTS = {
  postgres: 5432,
  pgbouncer: 6432,
  temporal: 7233,
  signOn: 4000,
  gateway: 4001,
  grpc: 4002,
  metrics: 4003,
  roles: 4005,
} as const;

/** All that must be free: each address with each port, because a program may listen on all addresses. */
export function addressesOf(
  network: string,
  { demoApps, ...others }: PublicPorts,
): { host: string; port: number }[] {
  const own = (Object.keys(HOSTS) as HostName[]).flatMap((name) =>
    Object.values(PORTS).map((port) => ({ host: hostOf(network, name), port })),
  );
  const shared = [...Object.values(others), ...demoApps].map((port) => ({ host: '127.0.0.1', port }));
  return [...shared, ...own];
}

export function hostOf(network: string, name: HostName): string {
  return `${network}.${HOSTS[name]}`;
}

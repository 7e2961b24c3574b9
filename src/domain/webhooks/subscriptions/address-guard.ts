/** Keeps deliveries out of non-public networks. */
export interface AddressGuard {
  /** Why deliveries must not go to the host, such as "resolves to 10.0.0.7, …"; undefined where they may. */
  refusalOf(url: URL): Promise<string | undefined>;
}

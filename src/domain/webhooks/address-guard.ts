/** Keeps deliveries out of networks that are not for the world to reach. */
export interface AddressGuard {
  /** Why deliveries must not go to the host, such as "resolves to 10.0.0.7, which is inside a private network"; undefined where they may. */
  refusalOf(url: URL): Promise<string | undefined>;
}

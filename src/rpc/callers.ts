/**
 * Who can be at the other end of a call. `service` is the edge and the worker; the others hold tokens that the
 * database knows.
 */
export type Caller = 'service' | 'operator' | 'platform';

export interface Identity {
  caller: Caller;
  /** Id of the token, where the database knows it. */
  tokenId?: string;
}

/** Says whose token this is, or throws the refusal. */
export type Authenticate = (token: string) => Identity | Promise<Identity>;

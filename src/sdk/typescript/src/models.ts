import type { User as GeneratedUser } from './generated/gateway/models/User.js';
import type { UserStatus } from './generated/records.js';

// Earlier releases have it as Client.
export type { TenantClient as Client } from './generated/records.js';
export * from './generated/records.js';

/** A person who can sign in to the dashboard on behalf of a client. */
export interface User extends Omit<GeneratedUser, 'status'> {
  /** The status. Later releases may add values to those of `UserStatus`. */
  status: Open<UserStatus>;
}

/** One of the known values; later releases of the service may add others. */
export type Open<Known extends string> = Known | (string & Record<never, never>);

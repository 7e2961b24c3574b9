import type { AccountId } from '../../../generated/ids.js';
import type { MarkUsed } from '../operator/lifetime.js';
import type { Application, ApplicationSecret } from '../operator/rows/applications.js';
import type { Entrance } from './sessions/browser.js';

export interface KnownSecret extends ApplicationSecret {
  /** SHA-256 of the secret, in base64url. */
  hash: string;
}

/** An application with its secrets, to authenticate it. */
export interface KnownApplication extends Application {
  secrets: KnownSecret[];
}

export interface KnownApplicationRows {
  find(id: string): Promise<KnownApplication | undefined>;
  /** Enabled ones on instances that admit the person; first those that say where signing in begins. */
  entrancesOf(accountId: AccountId, limit: number): Promise<Entrance[]>;
  markSecretUsed: MarkUsed;
}

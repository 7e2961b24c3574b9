import type { ApplicationSecret } from '../operator/application-secrets.js';
import type { Application } from '../operator/applications.js';

/** A secret with what it is recognised by. */
export interface KnownSecret extends ApplicationSecret {
  /** SHA-256 of the secret, in base64url. */
  hash: string;
}

/** An application as it is asked to prove itself. */
export interface KnownApplication extends Application {
  secrets: KnownSecret[];
}

export interface KnownApplicationRows {
  find(id: string): Promise<KnownApplication | undefined>;
  /** One conditional statement: moves the last use forward to `at` unless it already stands at `unlessSince` or later. */
  markSecretUsed(secretId: string, at: number, unlessSince: number): Promise<void>;
}

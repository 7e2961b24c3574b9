import type { ApplicationId } from '../../../../generated/ids.js';

/** A credential of a confidential application, without the secret itself. */
export interface ApplicationSecret {
  id: string;
  createdAt: number;
  /** Null until a rotation sets it. */
  expiresAt: number | null;
  lastUsedAt: number | null;
}

export interface SecretRows {
  insertSecret(id: ApplicationId, secret: ApplicationSecret, hash: Uint8Array): Promise<void>;
  setSecretExpiry(secretId: string, expiresAt: number): Promise<void>;
  deleteSecret(secretId: string): Promise<void>;
}

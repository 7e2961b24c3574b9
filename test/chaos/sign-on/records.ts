import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import type { ServiceProcess } from '../../support/service-process.js';

export interface CodeRecord {
  hash: string;
  minute: number;
  status: 'ISSUED' | 'REDEEMED' | 'EXPIRED';
  grantId: string;
}

export interface GrantRecord {
  id: string;
  generation: number;
  revokedAt: number | null;
}

/** What the file says about sign-ins, read beside the service or after it. */
export class SignOnRecords {
  readonly #file: string;

  constructor({ dataDir }: ServiceProcess) {
    this.#file = join(dataDir, 'integration.db');
  }

  codes(): CodeRecord[] {
    return this.#rows('SELECT hash, minute, status, grant_id AS grantId FROM authorization_codes');
  }

  code(code: string): CodeRecord | undefined {
    const hash = createHash('sha256').update(code).digest('base64url');
    return this.codes().find((record) => record.hash === hash);
  }

  codesWithStatus(status: CodeRecord['status']): CodeRecord[] {
    return this.codes().filter((code) => code.status === status);
  }

  grants(): GrantRecord[] {
    return this.#rows('SELECT id, generation, revoked_at AS revokedAt FROM grants');
  }

  grant(id: string): GrantRecord | undefined {
    return this.grants().find((grant) => grant.id === id);
  }

  /** The grant ids of audit events, one for each event. */
  audited(type: string): string[] {
    const rows = this.#rows<{ attributes: string }>(
      'SELECT attributes FROM audit_events WHERE type = ?',
      type,
    );
    return rows.map(({ attributes }) => (JSON.parse(attributes) as { grant_id: string }).grant_id);
  }

  /** As if all that was issued until now had been issued so much earlier. */
  letCodesAge(byMs: number): void {
    const database = new Sqlite(this.#file, { timeout: 30_000 });
    try {
      database.exec(`
        UPDATE authorization_codes SET minute = minute - ${byMs}, issued_at = issued_at - ${byMs}, expires_at = expires_at - ${byMs};
        UPDATE code_minutes SET minute = minute - ${byMs}, expires_at = expires_at - ${byMs}, watched_at = NULL;`);
    } finally {
      database.close();
    }
  }

  #rows<T>(statement: string, ...values: string[]): T[] {
    const database = new Sqlite(this.#file, { readonly: true, timeout: 30_000 });
    try {
      return database.prepare(statement).all(...values) as T[];
    } finally {
      database.close();
    }
  }
}

/** Which grant an access token belongs to, by its own word. */
export function grantIdOf(accessToken: string): string {
  const [, payload = ''] = accessToken.split('.');
  return (JSON.parse(Buffer.from(payload, 'base64url').toString()) as { grant_id: string }).grant_id;
}

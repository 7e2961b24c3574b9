import { type RawBuilder, sql } from 'kysely';
import type { Actor } from '../../domain/operator/audit.js';
import type { AuditType } from '../../domain/operator/audit-types.js';
import { newVersion } from '../../domain/version.js';
import { auditAction } from '../adapters/operator/audit-events.js';
import { changedRows } from '../adapters/statements/kept-statement.js';
import type { Writer } from '../database.js';
import { assertEnded } from './left-valid.js';

/** Changes of rows in a restored database, each with its audit record. */
export class CopyChanges {
  constructor(
    readonly writer: Writer,
    readonly at: number,
    private readonly actor: Actor,
  ) {}

  record(type: AuditType, subject: { type: string; id: string }, attributes = {}): Promise<void> {
    return auditAction(this.writer, this.at, this.actor, { type, subject, attributes });
  }

  async countChanged(statement: RawBuilder<unknown>): Promise<number> {
    return changedRows(await statement.execute(this.writer));
  }

  /** Ends the rows that meet the condition, and throws if one still does. Returns their number. */
  async endWhere(table: string, end: RawBuilder<unknown>, condition: RawBuilder<unknown>): Promise<number> {
    const ended = await this.countChanged(sql`${end} where ${condition}`);
    const left = await sql`select 1 from ${sql.table(table)} where ${condition} limit 1`.execute(this.writer);
    assertEnded(left.rows.length === 0, `rows of ${table}`);
    return ended;
  }

  /** Applies the change, which returns whether it changed a row, and records it. Returns the ids. */
  async changeEach(
    ids: string[],
    type: AuditType,
    change: (id: string) => Promise<boolean>,
  ): Promise<string[]> {
    const [kind = ''] = type.split('.');
    for (const id of ids) {
      assertEnded(await change(id), id);
      await this.record(type, { type: kind, id }, { reason: 'restored' });
    }
    return ids;
  }

  /** Changes the row if it meets the condition `isStill`. Returns whether it did. */
  async setRow(
    table: string,
    id: string,
    fields: RawBuilder<unknown>,
    isStill: RawBuilder<unknown> = sql`1 = 1`,
  ): Promise<boolean> {
    const change = sql`
      update ${sql.table(table)} set ${fields}, version = ${newVersion()}, updated_at = ${this.at}
      where id = ${id} and ${isStill}
    `;
    return (await this.countChanged(change)) === 1;
  }

  enableSubscription(id: string, isStill?: RawBuilder<unknown>): Promise<boolean> {
    return this.setRow(
      'subscriptions',
      id,
      sql`status = 'ACTIVE', disabled_reason = null, disabled_at = null, failing_since = null`,
      isStill,
    );
  }

  disableSubscription(id: string): Promise<boolean> {
    return this.setRow(
      'subscriptions',
      id,
      sql`status = 'DISABLED', disabled_reason = 'OPERATOR', disabled_at = ${this.at}`,
    );
  }

  async endSigningKeys(kids: readonly string[]): Promise<number> {
    for (const kid of kids) {
      await sql`
        update signing_keys set retired_at = ${this.at}, retires_at = null,
          superseded_at = case when activates_at <= ${this.at} then coalesce(superseded_at, ${this.at}) end
        where kid = ${kid}
      `.execute(this.writer);
      await this.record('signing_key.withdrawn', { type: 'signing_key', id: kid });
    }
    return kids.length;
  }
}

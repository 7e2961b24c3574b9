import { type RawBuilder, sql } from 'kysely';
import type { Actor } from '../../domain/operator/audit.js';
import { newVersion } from '../../domain/version.js';
import { auditAction } from '../adapters/operator/audit-events.js';
import type { Writer } from '../database.js';
import { RESTORED_TYPE } from './copy-facts.js';
import { type Credential, credentialsWhere, revoke, setEnd } from './credentials.js';
import type { OpenedDatabase } from './open-copy.js';
import { unexpired, type ValidList, validIn } from './valid-list.js';

export interface Settling {
  actor: Actor;
  at: number;
  /** What is still valid elsewhere, from after the copy was taken. */
  valid: ValidList | undefined;
  keepSessions: boolean;
  keepKeys: boolean;
  sendWebhooks: boolean;
  /** For the record of the restore. */
  attributes: Record<string, string>;
}

/** What a restored database was made to forget. */
export interface Settled {
  ended: { sessions: number; grants: number; codes: number; links: number; signingKeys: number };
  /** Ended because the list lacks them: final. */
  revoked: Credential[];
  disabled: { applications: string[]; accounts: string[]; subscriptions: string[] };
  /** People whose password is another since, and who need a link. */
  passwords: number;
  suspended: Credential[];
  alive: Credential[];
  held: { subscriptions: string[]; deliveries: number };
}

/** One transaction, before the database serves: the copy must not bring back what was revoked. */
export function settleCopy({ write }: Pick<OpenedDatabase, 'write'>, settling: Settling): Promise<Settled> {
  return write(async (writer) => {
    const copy = new Copy(writer, settling, await validIn(writer, settling.at));
    const ended = await copy.endSessions();
    const revoked = await copy.revokeCredentials();
    const disabled = await copy.disableEnded();
    const passwords = await copy.forgetPasswords();
    const suspended = await copy.suspendCredentials();
    const held = await copy.holdDeliveries();
    await copy.forgetNodes();
    await copy.record(RESTORED_TYPE, { type: 'database', id: 'copy' }, settling.attributes);
    const alive = await copy.aliveCredentials();
    return { ended, revoked, disabled, passwords, suspended, alive, held };
  });
}

class Copy {
  constructor(
    private readonly writer: Writer,
    private readonly settling: Settling,
    /** What the copy would let in. */
    private readonly present: ValidList,
  ) {}

  async endSessions(): Promise<Settled['ended']> {
    const { at, keepSessions, valid } = this.settling;
    if (keepSessions) {
      const retired = valid ? await this.#endSigningKeys(this.#lost('signingKeys')) : 0;
      return { sessions: 0, grants: 0, codes: 0, links: 0, signingKeys: retired };
    }
    return {
      sessions: await this.#changed(sql`delete from sessions`),
      grants: await this.#changed(sql`update grants set revoked_at = ${at} where revoked_at is null`),
      codes: await this.#changed(
        sql`update authorization_codes set status = 'EXPIRED' where status = 'ISSUED'`,
      ),
      links:
        (await this.#changed(sql`update account_links set ended_at = ${at} where ended_at is null`)) +
        (await this.#changed(sql`update email_changes set link_hash = null where link_hash is not null`)),
      signingKeys: await this.#endSigningKeys(this.present.signingKeys),
    };
  }

  /** Of a list, ends all that it lacks. */
  async revokeCredentials(): Promise<Credential[]> {
    const { at, valid } = this.settling;
    if (!valid) {
      return [];
    }
    const listed = new Set([...valid.apiKeys, ...valid.serviceTokens, ...valid.clientSecrets]);
    const lost = (await this.aliveCredentials()).filter(({ id }) => !listed.has(id));
    for (const each of lost) {
      await revoke(this.writer, each, at);
      await this.record(`${each.kind}.revoked`, { type: each.kind, id: each.id }, { reason: 'restored' });
    }
    return lost;
  }

  async disableEnded(): Promise<Settled['disabled']> {
    if (!this.settling.valid) {
      return { applications: [], accounts: [], subscriptions: [] };
    }
    const applications = this.#lost('applications');
    const accounts = [...new Set([...this.#lost('accounts'), ...(await this.#formerMembers())])];
    const subscriptions = this.#lost('subscriptions');
    await this.#each(applications, 'application', (id) => this.#setRow('applications', id, sql`enabled = 0`));
    await this.#each(accounts, 'account', (id) =>
      this.#setRow('accounts', id, sql`disabled_at = ${this.settling.at}`),
    );
    await this.#each(subscriptions, 'subscription', (id) => this.#disableSubscription(id));
    return { applications, accounts, subscriptions };
  }

  /** An earlier password may be the one that leaked. */
  async forgetPasswords(): Promise<number> {
    const { valid } = this.settling;
    const changed = Object.entries(valid ? this.present.passwords : {})
      .filter(([id, setAt]) => valid?.passwords[id] !== setAt)
      .map(([id]) => id);
    await this.#each(
      changed,
      'account',
      async (id) => {
        await sql`delete from passwords where account_id = ${id}`.execute(this.writer);
      },
      'password_removed',
    );
    return changed.length;
  }

  /** Without a list, what was revoked since is not known, so nothing lets in until an operator says so. */
  async suspendCredentials(): Promise<Credential[]> {
    const { at, valid, keepKeys } = this.settling;
    if (valid || keepKeys) {
      return [];
    }
    const alive = await this.aliveCredentials();
    for (const each of alive) {
      await setEnd(this.writer, each, at);
      await this.record(
        `${each.kind}.suspended`,
        { type: each.kind, id: each.id },
        { expires_at: each.expiresAt === null ? 'never' : String(each.expiresAt) },
      );
    }
    return alive;
  }

  async holdDeliveries(): Promise<Settled['held']> {
    if (this.settling.sendWebhooks) {
      return { subscriptions: [], deliveries: 0 };
    }
    const listed = this.settling.valid ? new Set(this.settling.valid.subscriptions) : undefined;
    const subscriptions = this.present.subscriptions.filter((id) => listed?.has(id) ?? true);
    await this.#each(subscriptions, 'subscription', (id) => this.#disableSubscription(id), 'suspended');
    const deliveries = await this.#changed(sql`
      update deliveries set status = 'HELD', next_attempt_at = null where status = 'PENDING'
      and subscription_id in (select id from subscriptions where status = 'DISABLED')
    `);
    return { subscriptions, deliveries };
  }

  /** Nodes of the other database do not hold keys for this one. */
  async forgetNodes(): Promise<void> {
    await this.#changed(sql`delete from encryption_key_holders`);
  }

  aliveCredentials(): Promise<Credential[]> {
    return credentialsWhere(this.writer, () => unexpired(this.settling.at));
  }

  record(type: string, subject: { type: string; id: string }, attributes = {}): Promise<void> {
    const { actor, at } = this.settling;
    return auditAction(this.writer, at, actor, { type, subject, attributes });
  }

  async #endSigningKeys(kids: readonly string[]): Promise<number> {
    const { at } = this.settling;
    for (const kid of kids) {
      await sql`
        update signing_keys set retired_at = ${at},
          superseded_at = case when activates_at <= ${at} then coalesce(superseded_at, ${at}) end
        where kid = ${kid}
      `.execute(this.writer);
      await this.record('signing_key.withdrawn', { type: 'signing_key', id: kid });
    }
    return kids.length;
  }

  #disableSubscription(id: string): Promise<void> {
    return this.#setRow(
      'subscriptions',
      id,
      sql`status = 'DISABLED', disabled_reason = 'OPERATOR', disabled_at = ${this.settling.at}`,
    );
  }

  async #setRow(table: string, id: string, fields: RawBuilder<unknown>): Promise<void> {
    await sql`
      update ${sql.table(table)} set ${fields}, version = ${newVersion()}, updated_at = ${this.settling.at}
      where id = ${id}
    `.execute(this.writer);
  }

  async #each(
    ids: readonly string[],
    type: string,
    change: (id: string) => Promise<void>,
    what = 'disabled',
  ): Promise<void> {
    for (const id of ids) {
      await change(id);
      await this.record(`${type}.${what}`, { type, id }, { reason: 'restored' });
    }
  }

  /** Valid in the copy, and not in the list. */
  #lost(kind: 'applications' | 'accounts' | 'subscriptions' | 'signingKeys'): string[] {
    const listed = new Set(this.settling.valid?.[kind]);
    return this.present[kind].filter((id) => !listed.has(id));
  }

  /** People who have left a client since: their account waits until an operator has looked. */
  async #formerMembers(): Promise<string[]> {
    const listed = new Set(this.settling.valid?.members);
    const { rows } = await sql<{ id: string; account: string }>`
      select id, account_id as account from users where status in ('ACTIVE', 'INVITED')
      union all select id, account_id from workers where offboarded_at is null
    `.execute(this.writer);
    const left = new Set(rows.filter(({ id }) => !listed.has(id)).map(({ account }) => account));
    const enabled = new Set(this.present.accounts);
    return [...left].filter((id) => enabled.has(id));
  }

  async #changed(statement: RawBuilder<unknown>): Promise<number> {
    return Number((await statement.execute(this.writer)).numAffectedRows ?? 0);
  }
}

import { sql } from 'kysely';
import { UNMATCHED_HASH } from '../../domain/credentials/passwords.js';
import { MAY_SIGN_IN } from '../../domain/directory/names.js';
import type { CopyChanges } from './copy-changes.js';
import { type Credential, credentialsWhere, revoke, setEnd } from './credentials.js';
import { assertEnded } from './left-valid.js';
import { applicationLists, unexpired, type ValidList, without } from './valid-list.js';

/** What a list of valid items ended permanently in a copy. */
export interface Applied {
  revoked: Credential[];
  /** Credentials that got the earlier expiry of the list. */
  shortened: Credential[];
  disabled: { applications: string[]; accounts: string[]; subscriptions: string[] };
  /** Users and workers who have left a client. */
  memberships: string[];
  /** Applications that lost a redirect or post-logout redirect URI, a scope or a grant type. */
  narrowed: string[];
  /** Instance integrations that are no longer configured. */
  unconfigured: string[];
  /** Accounts whose password was set, changed or removed later; these people need a link. */
  passwords: string[];
}

/** Ends every item of the copy that is not in `valid`; `present` is what is valid in the copy. */
export async function applyList(
  changes: CopyChanges,
  present: ValidList,
  valid: ValidList,
): Promise<Applied> {
  const list = new ListInCopy(changes, present, valid);
  const { revoked, shortened } = await list.endCredentials();
  const unconfigured = await list.unconfigure();
  const narrowed = await list.narrowApplications();
  const { memberships, leavers } = await list.endMemberships();
  const accounts = await list.disableAccounts(leavers);
  const applications = await list.disableApplications();
  const subscriptions = await list.disableSubscriptions();
  const passwords = await list.forgetPasswords();
  const disabled = { applications, accounts, subscriptions };
  return { revoked, shortened, disabled, memberships, narrowed, unconfigured, passwords };
}

class ListInCopy {
  constructor(
    private readonly changes: CopyChanges,
    private readonly present: ValidList,
    private readonly valid: ValidList,
  ) {}

  async endCredentials(): Promise<Pick<Applied, 'revoked' | 'shortened'>> {
    const { writer, at } = this.changes;
    const { apiKeys, serviceTokens, clientSecrets } = this.valid;
    const ends = new Map(Object.entries({ ...apiKeys, ...serviceTokens, ...clientSecrets }));
    const revoked: Credential[] = [];
    const shortened: Credential[] = [];
    for (const each of await credentialsWhere(writer, unexpired(at))) {
      const { kind, id } = each;
      const end = ends.get(id);
      if (end === undefined) {
        assertEnded(await revoke(writer, each, at), id);
        await this.changes.record(`${kind}.revoked`, { type: kind, id }, { reason: 'restored' });
        revoked.push(each);
      } else if (isEarlier(end, each.expiresAt)) {
        await setEnd(writer, each, end);
        const attributes = { reason: 'restored', expires_at: String(end) };
        await this.changes.record(`${kind}.shortened`, { type: kind, id }, attributes);
        shortened.push({ ...each, expiresAt: end });
      }
    }
    return { revoked, shortened };
  }

  unconfigure(): Promise<string[]> {
    const lost = this.#lost('instanceIntegrations');
    return this.changes.changeEach(lost, 'instance_integration.unconfigured', (id) =>
      this.changes.setRow('instance_integrations', id, sql`configured_at = null`),
    );
  }

  async narrowApplications(): Promise<string[]> {
    const { writer } = this.changes;
    const narrowed = new Set<string>();
    for (const [id, present] of Object.entries(this.present.redirectUris)) {
      for (const pair of without(present, this.valid.redirectUris[id])) {
        const [instance = '', uri = ''] = pair.split(' ');
        await sql`
          delete from application_redirect_uris
          where application_id = ${id} and instance_id = ${instance} and uri = ${uri}
        `.execute(writer);
        narrowed.add(id);
      }
    }
    for (const [part, column] of Object.entries(applicationLists)) {
      const listed = this.valid[part as keyof typeof applicationLists];
      for (const [id, present] of Object.entries(this.present[part as keyof typeof applicationLists])) {
        const kept = present.filter((each) => listed[id]?.includes(each));
        if (kept.length < present.length) {
          const text = JSON.stringify(kept);
          await sql`update applications set ${sql.ref(column)} = ${text} where id = ${id}`.execute(writer);
          narrowed.add(id);
        }
      }
    }
    return this.changes.changeEach([...narrowed], 'application.narrowed', (id) =>
      this.changes.setRow('applications', id, sql`id = id`),
    );
  }

  /** Ends memberships that are not on the list, and finds the accounts that have none left. */
  async endMemberships(): Promise<{ memberships: string[]; leavers: Set<string> }> {
    const { writer, at } = this.changes;
    const listed = new Set(this.valid.members);
    const { rows } = await sql<{ id: string; account: string; type: 'user' | 'worker' }>`
      select id, account_id as account, 'user' as type from users
      where status in (${sql.join(MAY_SIGN_IN)})
      union all select id, account_id, 'worker' from workers where offboarded_at is null
      order by 1
    `.execute(writer);
    const left = rows.filter(({ id }) => !listed.has(id));
    for (const { id, type } of left) {
      await this.changes.changeEach([id], `${type}.ended`, () =>
        type === 'user'
          ? // An INACTIVE user has signed in, and shows later addresses of the person.
            this.changes.setRow(
              'users',
              id,
              sql`status = case status when 'INVITED' then 'DELETED' else 'INACTIVE' end`,
            )
          : this.changes.setRow('workers', id, sql`offboarded_at = ${at}`),
      );
    }
    const leavers = new Set(left.map(({ account }) => account));
    for (const { account } of rows.filter(({ id }) => listed.has(id))) {
      leavers.delete(account);
    }
    return { memberships: left.map(({ id }) => id), leavers };
  }

  /** Includes accounts whose address was changed since: a password link would go to the old mailbox. */
  disableAccounts(leavers: ReadonlySet<string>): Promise<string[]> {
    const { accounts } = this.present;
    const ended = new Set(this.#lost('accounts'));
    const isOther = (id: string) => this.valid.emails[id] !== this.present.emails[id];
    const lost = accounts.filter((id) => ended.has(id) || leavers.has(id) || isOther(id));
    return this.changes.changeEach(lost, 'account.disabled', (id) =>
      this.changes.setRow('accounts', id, sql`disabled_at = ${this.changes.at}`),
    );
  }

  disableApplications(): Promise<string[]> {
    return this.changes.changeEach(this.#lost('applications'), 'application.disabled', (id) =>
      this.changes.setRow('applications', id, sql`enabled = 0`),
    );
  }

  /** Includes subscriptions whose secrets have all ended since: the receiver expects one not in the copy. */
  async disableSubscriptions(): Promise<string[]> {
    const { writer } = this.changes;
    const { rows: secrets } = await sql<{ id: string; subscription: string }>`
      select id, subscription_id as subscription from subscription_secrets
    `.execute(writer);
    const touched = new Set<string>();
    const signing = new Set<string>();
    for (const { id, subscription } of secrets) {
      const present = this.present.subscriptionSecrets[id];
      if (present !== undefined) {
        const { [id]: end = this.changes.at } = this.valid.subscriptionSecrets;
        if (isEarlier(end, present)) {
          await sql`update subscription_secrets set expires_at = ${end} where id = ${id}`.execute(writer);
          await this.changes.record(
            'subscription.secret_shortened',
            { type: 'subscription', id: subscription },
            { reason: 'restored', secret_id: id, expires_at: String(end) },
          );
          touched.add(subscription);
        } else {
          signing.add(subscription);
        }
      }
    }
    const ended = new Set(this.#lost('subscriptions'));
    const isUnsigned = (id: string) => touched.has(id) && !signing.has(id);
    const lost = this.present.subscriptions.filter((id) => ended.has(id) || isUnsigned(id));
    return this.changes.changeEach(lost, 'subscription.disabled', (id) =>
      this.changes.disableSubscription(id),
    );
  }

  /**
   * The password in the copy may have been changed because it had leaked. The account keeps a row, or gets
   * one if its first password was set later: without a row, the person counts as never signed in, and a
   * client could change the address without proof. The new time makes all browsers of the person unknown.
   */
  forgetPasswords(): Promise<string[]> {
    const { emails, passwords } = this.present;
    const lost = Object.keys(emails).filter((id) => this.valid.passwords[id] !== passwords[id]);
    return this.changes.changeEach(lost, 'account.password_removed', async (id) => {
      const removal = sql`
        insert into passwords (account_id, hash, set_at) values (${id}, ${UNMATCHED_HASH}, ${this.changes.at})
        on conflict (account_id) do update set hash = excluded.hash, set_at = excluded.set_at
      `;
      return (await this.changes.countChanged(removal)) === 1;
    });
  }

  /** Items that are valid in the copy but not on the list. */
  #lost(kind: 'applications' | 'accounts' | 'subscriptions' | 'instanceIntegrations'): string[] {
    return without(this.present[kind], this.valid[kind]);
  }
}

function isEarlier(end: number | null, present: number | null): end is number {
  return end !== null && end < (present ?? Number.POSITIVE_INFINITY);
}

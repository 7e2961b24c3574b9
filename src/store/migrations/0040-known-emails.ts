import type { Kysely } from 'kysely';
import { changeTrigger } from './0030-sequence-of-changes.js';
import { runScript } from './script.js';
import { DELETED, entity, users } from './triggers-0030.js';

/**
 * The address that a user shows in the place of its account's. A new address of the account does not change
 * such a user. Nor does it change a user to be given the address that it shows; to lose it does.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runScript(db, 'alter table users add column known_email text');
  const isGiven = 'old.known_email is null and new.known_email is not null';
  const isLost = 'old.known_email is not null and new.known_email is null';
  await changeTrigger(
    db,
    'user_changed',
    `${entity('user', 'new', DELETED)} where not (${isGiven})
      union all ${users(`manager_id = new.id and ${isLost}`)}`,
  );
  const ofAccount = 'account_id = new.id and known_email is null';
  await changeTrigger(
    db,
    'account_readdressed',
    users(`(${ofAccount} or manager_id in (select id from users as manager where ${ofAccount}))`),
  );
}

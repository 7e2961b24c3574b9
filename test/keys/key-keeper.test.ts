import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { InstanceIntegrationId } from '../../generated/ids.js';
import { activateEncryptionKey, retireEncryptionKey } from '../../src/domain/operator/encryption-keys.js';
import { inNameOf } from '../../src/domain/unit-of-work.js';
import { ErrorCode } from '../../src/errors/service-error.js';
import { KeyKeeper } from '../../src/keys/key-keeper.js';
import { SealedBox } from '../../src/keys/sealed-box.js';
import { type EncryptionKey, newKey, SecretsKeyError } from '../../src/keys/secrets-key.js';
import { derivedKeys, subkeyOf, TOKEN_PURPOSES } from '../../src/keys/subkeys.js';
import { withAuditChains } from '../../src/store/adapters/operator/audit-chains.js';
import { operatorUnitOfWork } from '../../src/store/adapters/operator/unit-of-work.js';
import { sealStore } from '../../src/store/adapters/seals.js';
import type { Database } from '../../src/store/database.js';
import { fakeClock } from '../domain/clock.js';
import { type DatabaseUnderTest, describeEachDatabase } from '../support/databases.js';

const ACTOR = { type: 'service_token', id: 'tok_1' };
const never = new AbortController().signal;
const SECOND = 1_000;

describeEachDatabase('the keeper of encryption keys', (under) => {
  test('begins a new environment with the key of its file, and with token keys that no key file gives', async () => {
    const { node } = await rig(under);
    const key = newKey();
    const { keeper, keys } = await node('a', [key]);
    expect(keeper.ring.usedId).toBe(key.id);
    for (const purpose of TOKEN_PURPOSES) {
      expect(keys[purpose]).not.toEqual(subkeyOf(key.bytes, purpose));
    }
    await expect(node('b', [key])).resolves.toMatchObject({ keys });
  });

  test('makes a key for a purpose that came with a new version, once for all nodes', async () => {
    const { node, database } = await rig(under);
    const file = [newKey()];
    const { keys } = await node('before', file);
    await database.write(async (writer) => {
      await writer.deleteFrom('token_keys').where('purpose', '=', 'form-tokens').execute();
    });
    const [a, b] = await Promise.all([node('a', file), node('b', file)]);
    expect(a.keys).toEqual(b.keys);
    expect(a.keys['form-tokens']).not.toEqual(keys['form-tokens']);
    expect(a.keys['refresh-tokens']).toEqual(keys['refresh-tokens']);
  });

  test('makes new keys where an operator has removed those of tokens, forms and open sign-ins after a leak', async () => {
    const { node, database } = await rig(under);
    const file = [newKey()];
    const { keys, keeper } = await node('before', file);
    const leaked = derivedKeys(keeper.ring, keys);
    const grantId = randomBytes(16).toString('base64url');
    const forged = leaked.refreshTokens.seal(grantId, 1);
    const replaced = ['refresh-tokens', 'form-tokens', 'interactions'] as const;
    await database.write((writer) =>
      writer.deleteFrom('token_keys').where('purpose', 'in', replaced).execute(),
    );
    const after = await node('after', file);
    const { refreshTokens, formTokens } = derivedKeys(after.keeper.ring, after.keys);
    expect(leaked.refreshTokens.open(forged)).toEqual({ grantId, generation: 1 });
    expect(refreshTokens.open(forged)).toBeUndefined();
    expect(formTokens.matches(leaked.formTokens.make('device'), 'device')).toBe(false);
    const isKept = (purpose: keyof typeof keys) => Buffer.compare(after.keys[purpose], keys[purpose]) === 0;
    expect(TOKEN_PURPOSES.filter(isKept)).toEqual(['idempotency', 'throttles', 'audit', 'cursors']);
  });

  test('makes no other key for audit records while there are some that the lost one vouches for', async () => {
    const { node, database } = await rig(under);
    const file = [newKey()];
    const { keys } = await node('before', file);
    const lost = await database.reader
      .selectFrom('token_keys')
      .where('purpose', '=', 'audit')
      .selectAll()
      .executeTakeFirstOrThrow();
    const chained = operatorUnitOfWork(
      withAuditChains(database, () => (bytes) => createHmac('sha256', keys.audit).update(bytes).digest()),
    );
    await inNameOf(ACTOR, chained).run((changes) =>
      changes.audit(changes.actor, { type: 'unit.updated', subject: { type: 'unit', id: 'a' } }),
    );
    await database.write((writer) =>
      writer.deleteFrom('token_keys').where('purpose', '=', 'audit').execute(),
    );
    await expect(node('after', file)).rejects.toThrow(
      /^The key of the audit log is missing .* Restore that row, or the database, from a backup\.$/,
    );
    await database.write((writer) => writer.insertInto('token_keys').values(lost).execute());
    await expect(node('restored', file)).resolves.toMatchObject({ keys });
  });

  test('of an older environment keeps what its tokens were made with, and gives every seal its id', async () => {
    const { node, plant, seals } = await rig(under);
    const key = newKey();
    const old = new SealedBox(subkeyOf(key.bytes, 'signing-keys'));
    await plant('kid', old.seal(Buffer.from('private'), 'kid'));
    const { keeper, keys } = await node('a', [key]);
    for (const purpose of TOKEN_PURPOSES) {
      expect(Buffer.from(keys[purpose])).toEqual(subkeyOf(key.bytes, purpose));
    }
    expect(
      keeper.ring
        .box('signing-keys')
        .open((await seals())[0] as string, 'kid')
        .toString(),
    ).toBe('private');
    expect(await keeper.renew(never)).toEqual({ renewed: 1, unopened: 0 });
    expect(await seals()).toEqual([expect.stringMatching(`^${key.id}\\.`)]);
    expect(
      keeper.ring
        .box('signing-keys')
        .open((await seals())[0] as string, 'kid')
        .toString(),
    ).toBe('private');
  });

  test('refuses a file of another environment before anything is written with it', async () => {
    const { node, plant, database } = await rig(under);
    const key = newKey();
    await plant('kid', new SealedBox(subkeyOf(key.bytes, 'signing-keys')).seal(Buffer.from('x'), 'kid'));
    await expect(node('a', [newKey()])).rejects.toThrow(
      /were sealed with another key file\. Set SECRETS_KEY_FILE/,
    );
    expect(await database.reader.selectFrom('encryption_keys').selectAll().execute()).toEqual([]);
    await node('b', [key]);
    const other = newKey();
    const refusal = node('c', [other]);
    await expect(refusal).rejects.toThrow(SecretsKeyError);
    await expect(refusal).rejects.toThrow(
      `The database needs the encryption key ${key.id}, and the key file holds ${other.id}. Set SECRETS_KEY_FILE`,
    );
    const holders = await database.reader.selectFrom('encryption_key_holders').select('node').execute();
    expect(holders.map(({ node }) => node)).toEqual(['b']);
  });

  test('lets one of two nodes begin, where both start at once with files of their own', async () => {
    const { node } = await rig(under);
    const outcomes = await Promise.allSettled([node('a', [newKey()]), node('b', [newKey()])]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('rotates three times while two nodes serve: all open everything, tokens stay, and old keys retire', async () => {
    const { node, plant, seals, activate, retire, clock } = await rig(under);
    const key = newKey();
    const files = { a: [key], b: [key] };
    const a = await node('a', files.a);
    const b = await node('b', files.b);
    const { refreshTokens, changeCursors } = derivedKeys(a.keeper.ring, a.keys);
    const token = refreshTokens.seal(randomBytes(16).toString('base64url'), 1);
    const reader = 'iin_HnuQOy4YQg1OdOSCDbMAkY' as InstanceIntegrationId;
    const after = { position: 3, type: 'worker', id: 'wrk_l50ycP5H6CnQHxa7Xt2y3d' } as const;
    const place = { life: '8c1f02d4a7b9', after, beganAt: 1, isLoading: true, newest: 7 };
    const cursor = changeCursors.write(place, reader);
    const names = Array.from({ length: 250 }, (_, number) => `kid ${String(number).padStart(3, '0')}`);
    for (const name of names) {
      await plant(name, a.keeper.ring.box('signing-keys').seal(Buffer.from(name), name));
    }
    for (let generation = 0; generation < 3; generation += 1) {
      const [before, next] = [files.a.at(-1) as EncryptionKey, newKey()];
      files.a.push(next);
      await a.keeper.look();
      // The other node cannot open it yet.
      await expect(activate(next.id)).rejects.toThrow('it is missing on b.');
      expect(a.keeper.ring.usedId).toBe(before.id);
      files.b.push(next);
      await b.keeper.look();
      await activate(next.id);
      // Twice is once: a command that was cut short is repeated.
      await activate(next.id);
      await a.keeper.look();
      await plant(
        `late ${generation}`,
        b.keeper.ring.box('signing-keys').seal(Buffer.from('late'), `late ${generation}`),
      );
      await expect(retire(before.id)).rejects.toThrow('These nodes still seal with it: b.');
      await b.keeper.look();
      await expect(retire(before.id)).rejects.toThrow(/is replacing the seals of this key: \d+ are left/);
      await Promise.all([a.keeper.renew(never), b.keeper.renew(never)]);
      expect((await seals()).every((seal) => seal.startsWith(`${next.id}.`))).toBe(true);
      await retire(before.id);
      await retire(before.id);
      for (const [name, file] of Object.entries(files)) {
        file.splice(0, file.length, ...file.filter(({ id }) => id !== before.id));
        await { a, b }[name as 'a' | 'b'].keeper.look();
      }
      expect(a.keeper.ring.ids).toEqual([next.id]);
      clock.advance(10 * SECOND);
    }
    const box = b.keeper.ring.box('signing-keys');
    const rows = await seals();
    names.forEach((name, index) => {
      expect(box.open(rows[index] as string, name).toString()).toBe(name);
    });
    const { keys } = await node('c', files.a);
    const later = derivedKeys(b.keeper.ring, keys);
    expect(later.refreshTokens.open(token)).toBeDefined();
    expect(later.changeCursors.read(cursor, reader)).toEqual(place);
  });

  test('continues after a crash in the midst of sealing again', async () => {
    const { node, plant, seals, activate } = await rig(under);
    const file = [newKey()];
    const a = await node('a', file);
    for (let number = 100; number < 350; number += 1) {
      await plant(`kid ${number}`, a.keeper.ring.box('signing-keys').seal(Buffer.from('x'), `kid ${number}`));
    }
    file.push(newKey());
    await a.keeper.look();
    await activate(file[1]?.id as string);
    await a.keeper.look();
    const crash = new AbortController();
    const cut = a.keeper.renew(crash.signal);
    crash.abort();
    expect((await cut).renewed).toBeLessThan(254);
    const again = await node('again', file);
    await again.keeper.renew(never);
    expect((await seals()).filter((seal) => !seal.startsWith(`${file[1]?.id}.`))).toEqual([]);
    expect(await again.keeper.renew(never)).toEqual({ renewed: 0, unopened: 0 });
  });

  test('keeps what it holds where the file is gone, damaged or another, and says so once', async () => {
    const { node, said } = await rig(under);
    const file = [newKey()];
    const { keeper } = await node('a', file);
    const before = keeper.ring.ids;
    file.splice(0, 1, newKey());
    await keeper.look();
    await keeper.look();
    expect(keeper.ring.ids).toEqual(before);
    expect(said).toEqual(['the key file no longer holds the encryption key in use, and is left unread']);
    file.splice(0, 1);
    await keeper.look();
    expect(said.at(-1)).toBe('the key file cannot be read again');
    expect(keeper.ring.ids).toEqual(before);
  });

  test('says again that the file cannot be read where it could be read meanwhile', async () => {
    const { node, said } = await rig(under);
    const file = [newKey()];
    const { keeper } = await node('a', file);
    for (const content of [[], file.slice(), []]) {
      file.splice(0, file.length, ...content);
      await keeper.look();
    }
    expect(said).toEqual(Array(2).fill('the key file cannot be read again'));
  });

  test('says again that another file is there where the right one was there meanwhile', async () => {
    const { node, said } = await rig(under);
    const file = [newKey()];
    const { keeper } = await node('a', file);
    const other = [newKey()];
    for (const content of [other, file.slice(), other]) {
      file.splice(0, file.length, ...content);
      await keeper.look();
    }
    expect(said).toEqual(
      Array(2).fill('the key file no longer holds the encryption key in use, and is left unread'),
    );
  });

  test('says each of two lasting faults once', async () => {
    const { node, said, activate, heardFrom } = await rig(under);
    const [key, next] = [newKey(), newKey()];
    const file = [key];
    const { keeper } = await node('cut off', file);
    await node('a', [key, next]);
    await heardFrom('cut off', 90 * SECOND);
    await activate(next.id);
    file.splice(0, 1);
    await keeper.look();
    await keeper.look();
    expect(said).toEqual([
      'the key file cannot be read again',
      'the key file lacks the encryption key in use',
    ]);
  });

  test('forgets a node that was killed, and one that left at once', async () => {
    const { node, activate, heardFrom } = await rig(under);
    const [key, next] = [newKey(), newKey()];
    await node('killed', [key]);
    const left = await node('left', [key]);
    await left.keeper.leave();
    await node('a', [key, next]);
    // The clock of the database goes on meanwhile.
    await heardFrom('killed', 60 * SECOND);
    await expect(activate(next.id)).rejects.toThrow('missing on killed.');
    await heardFrom('killed', 90 * SECOND);
    await activate(next.id);
  });

  test('forgets a node that was killed before the clock of the database was set back', async () => {
    const { node, activate, heardFrom } = await rig(under);
    const [key, next] = [newKey(), newKey()];
    await node('killed', [key]);
    await node('a', [key, next]);
    await heardFrom('killed', -3_600 * SECOND);
    await activate(next.id);
  });

  test.each([
    ['behind', -10],
    ['ahead of', 10],
  ])('counts on a node with a clock ten minutes %s that of the others', async (_, minutes) => {
    const { node, activate, clock } = await rig(under);
    const [key, next] = [newKey(), newKey()];
    clock.advance(minutes * 60 * SECOND);
    await node('other', [key]);
    clock.advance(-minutes * 60 * SECOND);
    await node('a', [key, next]);
    await expect(activate(next.id)).rejects.toThrow('missing on other.');
  });

  test('lets a node that slept through a rotation seal nothing with the key that was retired meanwhile', async () => {
    const { node, plant, seals, activate, retire, heardFrom } = await rig(under);
    const [key, next] = [newKey(), newKey()];
    const asleep = await node('asleep', [key, next]);
    const awake = await node('awake', [key, next]);
    await plant('kid', awake.keeper.ring.box('signing-keys').seal(Buffer.from('x'), 'kid'));
    await activate(next.id);
    await awake.keeper.look();
    await awake.keeper.renew(never);
    await heardFrom('asleep', 90 * SECOND);
    await retire(key.id);
    await expect(asleep.keeper.renew(never)).rejects.toThrow('was replaced a moment ago. Try again.');
    await asleep.keeper.look();
    expect(await asleep.keeper.renew(never)).toEqual({ renewed: 0, unopened: 0 });
    expect(await seals()).toEqual([expect.stringMatching(`^${next.id}\\.`)]);
  });

  test('knows that its file lacks the key that was put into use while it was not heard from', async () => {
    const { node, activate, heardFrom } = await rig(under);
    const [key, next] = [newKey(), newKey()];
    const file = [key];
    const { keeper } = await node('cut off', file);
    await node('a', [key, next]);
    await keeper.look();
    expect(keeper.lacking).toBeUndefined();
    await heardFrom('cut off', 90 * SECOND);
    await activate(next.id);
    await keeper.look();
    expect(keeper.lacking).toBe(next.id);
    file.push(next);
    await keeper.look();
    expect(keeper.lacking).toBeUndefined();
  });

  test('makes another pass over the seals when one is asked for during a pass', async () => {
    const { node, plant } = await rig(under);
    const key = newKey();
    const { keeper } = await node('a', [key]);
    const pass = keeper.renew(never);
    keeper.renewSoon();
    await pass;
    const old = new SealedBox(subkeyOf(key.bytes, 'signing-keys'));
    await plant('kid', old.seal(Buffer.from('private'), 'kid'));
    expect(await keeper.renew(never)).toEqual({ renewed: 1, unopened: 0 });
  });

  test('looks at the seals again after the clock was set back', async () => {
    const { node, plant, clock } = await rig(under);
    const key = newKey();
    const { keeper } = await node('a', [key]);
    await keeper.renew(never);
    clock.advance(-3_600 * SECOND);
    const old = new SealedBox(subkeyOf(key.bytes, 'signing-keys'));
    await plant('kid', old.seal(Buffer.from('private'), 'kid'));
    expect(await keeper.renew(never)).toEqual({ renewed: 1, unopened: 0 });
  });

  test('retires no key behind a newer release, which may have sealed what this one does not see', async () => {
    const { node, activate, retire, database } = await rig(under);
    const file = [newKey(), newKey(), newKey()];
    const { keeper } = await node('a', file);
    const [first, second, third] = file.map(({ id }) => id) as [string, string, string];
    const rotate = async (next: string) => {
      await activate(next);
      await keeper.look();
      await keeper.renew(never);
    };
    await rotate(second);
    await retire(first);
    await migratedByNewer(database);
    await rotate(third);
    const refused = {
      code: ErrorCode.TRANSITION_REFUSED,
      message: expect.stringMatching(/^A newer version .* has migrated the database \(it has 9999-newer\)/),
    };
    await expect(retire(second)).rejects.toMatchObject(refused);
    // What was retired before can be so again, to remove the key from the file of another node.
    await retire(first);
    const rows = await database.reader.selectFrom('encryption_keys').select(['id', 'retired_at']).execute();
    expect(new Map(rows.map(({ id, retired_at }) => [id, retired_at !== null]))).toEqual(
      new Map([
        [first, true],
        [second, false],
        [third, false],
      ]),
    );
  });

  test('of two rotations at once lets one be the next, and never goes back', async () => {
    const { node, activate, database } = await rig(under);
    const file = [newKey(), newKey(), newKey()];
    const { keeper } = await node('a', file);
    const [first, second, third] = file.map(({ id }) => id) as [string, string, string];
    await Promise.all([activate(second), activate(third)]);
    const rows = await database.reader
      .selectFrom('encryption_keys')
      .orderBy('position')
      .select('position')
      .execute();
    expect(rows.map(({ position }) => position)).toEqual([1, 2, 3]);
    await expect(activate(first)).rejects.toThrow('The key was in use before.');
    await expect(activate('ek_0000000000000000')).rejects.toThrow('No node holds such a key.');
    await keeper.look();
    expect([second, third]).toContain(keeper.ring.usedId);
  });
});

async function rig(under: DatabaseUnderTest) {
  const database = await under.openMigrated();
  const clock = fakeClock();
  const said: string[] = [];
  const operator = operatorUnitOfWork({ ...database, clock: clock.now });
  return {
    database,
    clock,
    said,
    activate: (id: string) => inNameOf(ACTOR, operator).run((changes) => activateEncryptionKey(changes, id)),
    retire: (id: string) => inNameOf(ACTOR, operator).run((changes) => retireEncryptionKey(changes, id)),
    node: async (name: string, file: readonly EncryptionKey[]) => {
      const keeper = new KeyKeeper({
        seals: sealStore(database),
        keys: [...file],
        readKeys: () => {
          if (file.length === 0) {
            throw new Error('It is gone.');
          }
          return [...file];
        },
        node: name,
        clock: clock.now,
        log: { info: () => undefined, error: (message) => said.push(message) },
      });
      return { keeper, keys: await keeper.adopt() };
    },
    plant: (kid: string, sealed: string) => plantSeal(database, kid, sealed),
    /** As if the node had not been heard from for so long, and no longer. */
    heardFrom: (name: string, agoMs: number) =>
      database.write(async (writer) => {
        await writer
          .updateTable('encryption_key_holders')
          .set({ seen_at: Date.now() - agoMs })
          .where('node', '=', name)
          .execute();
      }),
    seals: async () => {
      const rows = await database.reader
        .selectFrom('signing_keys')
        .orderBy('kid')
        .select('sealed_private_key')
        .execute();
      return rows.map((row) => row.sealed_private_key);
    },
  };
}

async function migratedByNewer(database: Database): Promise<void> {
  await database.write((writer) =>
    sql`insert into kysely_migration (name, timestamp) values ('9999-newer', '2027-01-01')`.execute(writer),
  );
}

async function plantSeal(database: Database, kid: string, sealed: string): Promise<void> {
  await database.write(async (writer) => {
    const row = { kid, algorithm: 'ES256' as const, public_jwk: '{}', sealed_private_key: sealed };
    const times = { created_at: 1, activates_at: 1, superseded_at: null, retires_at: null, retired_at: null };
    await writer
      .insertInto('signing_keys')
      .values({ ...row, ...times })
      .execute();
  });
}

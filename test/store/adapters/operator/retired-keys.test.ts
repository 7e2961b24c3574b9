import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { retireEncryptionKey } from '../../../../src/domain/operator/encryption-keys.js';
import type { SealedPlace } from '../../../../src/domain/operator/rows/encryption-keys.js';
import type { OperatorChanges } from '../../../../src/domain/operator/unit-of-work.js';
import type { SigningKey } from '../../../../src/domain/sign-on/keys/signing-keys.js';
import { inNameOf } from '../../../../src/domain/unit-of-work.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import {
  encryptionKeyRows,
  SEALED_COLUMNS,
} from '../../../../src/store/adapters/operator/encryption-keys.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import { sealStore } from '../../../../src/store/adapters/seals.js';
import { signingKeyRows } from '../../../../src/store/adapters/sign-on/signing-keys.js';
import { subscriptionRows } from '../../../../src/store/adapters/webhooks/subscriptions/rows.js';
import type { Database, Writer } from '../../../../src/store/database.js';
import { type DatabaseUnderTest, describeEachDatabase } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { signalled } from '../../../support/signalled.js';
import { plantSubscription } from '../webhooks/sending/rig.js';
import { newConnection } from '../webhooks/subscriptions/rig.js';
import { OPERATOR } from './rig.js';

const OLD = 'ek_0000000000000001';
const NEW = 'ek_0000000000000002';
const SEAL = `${OLD}.sealed`;

const REFUSED = { code: ErrorCode.UNAVAILABLE, retryAfterSeconds: expect.any(Number) };

const SIGNING_KEY: SigningKey = {
  ...{ kid: 'kid', algorithm: 'ES256', publicJwk: {}, sealedPrivateKey: SEAL, createdAt: 1, activatesAt: 1 },
  ...{ supersededAt: null, retiresAt: null, retiredAt: null },
};

/** Writes what the old key sealed, as what seals does. */
const SEALING: Record<SealedPlace, (database: Database) => Promise<void>> = {
  'signing-keys': ({ write }) => write((writer) => signingKeyRows(writer).insert(SIGNING_KEY)),
  'webhook-secrets': async (database) => {
    const { id, instanceId } = await newConnection(database);
    const subscriptionId = await plantSubscription(database, {
      instance_integration_id: id,
      instance_id: instanceId,
    });
    const secret = { id: 'sec_1', createdAt: 1, expiresAt: null };
    await database.write((writer) => subscriptionRows(writer).insertSecret(subscriptionId, secret, SEAL));
  },
  'token-keys': (database) => sealStore(database).addTokenKeys([{ purpose: 'throttles', sealed: SEAL }], 1),
};

describeEachDatabase('an encryption key that another has followed', (under) => {
  test.each(Object.keys(SEALING) as SealedPlace[])(
    'seals none of the %s any more once it is retired',
    async (place) => {
      const { database, retire, seals } = await rig(under);
      await retire();
      await expect(SEALING[place](database)).rejects.toMatchObject(REFUSED);
      expect(await seals()).toBe(0);
    },
  );

  test.each(Object.keys(SEALING) as SealedPlace[])(
    'is not put in the place of the newer one once it is retired, in the %s',
    async (place) => {
      const { database, retire } = await rig(under);
      await retire();
      const replacement = { name: 'any', from: `${NEW}.sealed`, to: SEAL };
      await expect(sealStore(database).replace(place, [replacement])).rejects.toMatchObject(REFUSED);
    },
  );

  test('is not retired under a write that sealed with it and is not committed yet', async () => {
    const { database, retire, isRetired, whenAnybodyWaits } = await rig(under);
    const [written, commit] = [signalled(), signalled()];
    const writing = database.write(async (writer) => {
      await signingKeyRows(writer).insert(SIGNING_KEY);
      written.tell();
      await commit.told;
    });
    await written.told;
    const retiring = retire().then(
      () => 'retired',
      (error: Error) => error.message,
    );
    await Promise.race([retiring, whenAnybodyWaits()]);
    commit.tell();
    await writing;
    expect(await retiring).toMatch(/is replacing the seals of this key: 1 are left/);
    expect(await isRetired()).toBe(false);
  });

  test('lets a write that sealed with it wait for the end of its retirement, and refuses it then', async () => {
    const { database, run, seals, whenAnybodyWaits } = await rig(under);
    const [retired, commit] = [signalled(), signalled()];
    const retiring = run(async (changes) => {
      await retireEncryptionKey(changes, OLD);
      retired.tell();
      await commit.told;
    });
    await retired.told;
    const writing = SEALING['signing-keys'](database).then(
      () => 'written',
      (error: unknown) => error,
    );
    await Promise.race([writing, whenAnybodyWaits()]);
    commit.tell();
    await retiring;
    expect(await writing).toMatchObject(REFUSED);
    expect(await seals()).toBe(0);
  });

  test('seals on where its retirement is undone', async () => {
    const { database, run, seals } = await rig(under);
    const undone = run(async (changes) => {
      await retireEncryptionKey(changes, OLD);
      throw new Error('It is undone.');
    });
    await expect(undone).rejects.toThrow('It is undone.');
    await SEALING['signing-keys'](database);
    expect(await seals()).toBe(1);
  });
});

async function rig(under: DatabaseUnderTest) {
  const database = await under.openMigrated();
  const rows = (db: Writer) => encryptionKeyRows(db);
  await database.write(async (writer) => {
    for (const [index, id] of [OLD, NEW].entries()) {
      await rows(writer).insert({ id, position: index + 1, activatedAt: 1, retiredAt: null });
    }
  });
  const operator = operatorUnitOfWork(database);
  const run = <T>(work: (changes: OperatorChanges) => Promise<T>) => inNameOf(OPERATOR, operator).run(work);
  return {
    database,
    run,
    retire: () => run((changes) => retireEncryptionKey(changes, OLD)),
    isRetired: async () =>
      (await rows(database.reader).all()).some(({ id, retiredAt }) => id === OLD && retiredAt !== null),
    /** How many have come to be written. */
    seals: async () => {
      const columns = Object.values(SEALED_COLUMNS);
      const found = await Promise.all(
        columns.map(({ table, sealed }) =>
          sql`select * from ${sql.table(table)} where ${sql.ref(sealed)} = ${SEAL}`.execute(database.reader),
        ),
      );
      return found.flatMap(({ rows }) => rows).length;
    },
    /** On SQLite whatever comes second waits from the beginning. */
    whenAnybodyWaits: async () => {
      if (under.kind === 'PostgreSQL') {
        await eventually('a transaction that waits for another', () => isAnybodyWaiting(database));
      }
    },
  };
}

async function isAnybodyWaiting({ reader }: Database): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
  `.execute(reader);
  return Number(rows[0]?.count) > 0;
}

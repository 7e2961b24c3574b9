import { expect, test } from '@jest/globals';
import {
  advanceSigningKeys,
  ensureSigningKeys,
  type KeyRotation,
  rotateSigningKeys,
} from '../../../../src/domain/sign-on/keys/key-rotation.js';
import { statusOf } from '../../../../src/domain/sign-on/keys/signing-keys.js';
import { signingKeyMaker } from '../../../../src/keys/key-ring.js';
import { SealedBox } from '../../../../src/keys/sealed-box.js';
import { signOnUnitOfWork } from '../../../../src/store/adapters/sign-on/unit-of-work.js';
import type { Database } from '../../../../src/store/database.js';
import { type DatabaseUnderTest, describeEachDatabase } from '../../../support/databases.js';
import { fakeClock } from '../../clock.js';
import { DAY, HOUR, numberedKeys, OPERATOR, policy, SCHEDULE } from './rig.js';

/** Nodes over one database: on PostgreSQL each with its own connections. */
async function nodes(database: DatabaseUnderTest, count: number) {
  const place = await database.newPlace();
  const clock = fakeClock();
  const first = await database.openMigrated(place);
  const others = await Promise.all(
    Array.from({ length: count - 1 }, () => (database.kind === 'SQLite' ? first : database.open(place))),
  );
  const rotationOf = (opened: Database, index: number): KeyRotation => {
    const { make } = numberedKeys();
    return {
      unitOfWork: signOnUnitOfWork({ ...opened, clock: clock.now }),
      maker: {
        make: async (algorithm) => {
          const material = await make(algorithm);
          return { ...material, kid: `${material.kid} of node ${index}` };
        },
      },
      policy,
      clock: clock.now,
      changed: async () => undefined,
    };
  };
  return { clock, first, rotations: [first, ...others].map(rotationOf) as [KeyRotation, ...KeyRotation[]] };
}

const auditedIn = async ({ reader }: Database) =>
  (await reader.selectFrom('audit_events').select(['type', 'actor_type', 'subject_id']).execute()).map(
    ({ type, actor_type, subject_id }) => `${actor_type} ${type} ${subject_id?.slice(0, 5)}`,
  );

describeEachDatabase('signing keys', (database) => {
  test('of eight nodes that start at once, one makes the keys', async () => {
    const { first, rotations } = await nodes(database, 8);
    await Promise.all(rotations.map(ensureSigningKeys));
    const keys = await rotations[0].unitOfWork.rows.signingKeys.all();
    expect(keys.map(({ algorithm }) => algorithm).sort()).toEqual(['ES256', 'EdDSA', 'RS256']);
    expect(new Set(keys.map(({ kid }) => kid.replace(/.* of/, ''))).size).toBe(1);
    expect(await auditedIn(first)).toHaveLength(6);
  });

  test('advanced by several at once take each step once', async () => {
    const { clock, first, rotations } = await nodes(database, 4);
    const advanceAll = () => Promise.all(rotations.map((rotation) => advanceSigningKeys(rotation, SCHEDULE)));
    await ensureSigningKeys(rotations[0]);
    for (const waitMs of [89 * DAY, DAY, 25 * HOUR]) {
      clock.advance(waitMs);
      await advanceAll();
    }
    const audited = await auditedIn(first);
    expect(audited.filter((line) => line.startsWith('schedule') && line.includes('RS256')).sort()).toEqual([
      'schedule signing_key.activated RS256',
      'schedule signing_key.published RS256',
      'schedule signing_key.retired RS256',
      'schedule signing_key.superseded RS256',
    ]);
  });

  test('rotated by several at once have one successor, and after a leak one that signs', async () => {
    const { clock, rotations } = await nodes(database, 4);
    const [rotation] = rotations;
    await ensureSigningKeys(rotation);
    const rotateAll = (compromised: boolean) =>
      Promise.all(
        rotations.map((each) => rotateSigningKeys(each, OPERATOR, { algorithms: ['ES256'], compromised })),
      );
    const statuses = async () => {
      const keys = await rotation.unitOfWork.rows.signingKeys.all();
      const own = keys.filter(({ algorithm }) => algorithm === 'ES256');
      return own.map((key) => statusOf(key, keys, clock.now())).sort();
    };
    await rotateAll(false);
    expect(await statuses()).toEqual(['active', 'published']);
    await rotateAll(true);
    expect((await statuses()).filter((status) => status !== 'retired')).toEqual(['active']);
  });

  test('keep their private halves sealed in the database', async () => {
    const { first, rotations } = await nodes(database, 1);
    const box = new SealedBox(Buffer.alloc(32, 9));
    await ensureSigningKeys({ ...rotations[0], maker: signingKeyMaker(box) });
    const rows = await first.reader.selectFrom('signing_keys').selectAll().execute();
    expect(rows).toHaveLength(3);
    for (const row of rows) {
      expect(JSON.parse(row.public_jwk)).not.toHaveProperty('d');
      const privateKey = box.open(row.sealed_private_key, row.kid);
      expect(JSON.stringify(row)).not.toContain(privateKey.toString('base64url').slice(-20));
    }
  });
});

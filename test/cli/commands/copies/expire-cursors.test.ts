import { describe, expect, test } from '@jest/globals';
import { databaseUnderTest } from '../../../support/databases.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';
import { integration } from '../../typed.js';
import { newLive, settingsIn, succeeded } from './rig.js';

const directory = temporaryDirectories();

describe('integration expire-cursors', () => {
  const under = databaseUnderTest('SQLite');

  test('begins a life, and each run is on record', async () => {
    const settings = await newLive(directory());
    for (const _ of [1, 2]) {
      expect(await succeeded(integration(['expire-cursors'], settings))).toBe(
        'Expired: all cursors. The next request of each reader gets 410, and it loads everything again.\n',
      );
    }
    const { reader } = await under.open({ dataDir: settings.DATA_DIR as string });
    const lives = await reader.selectFrom('change_lives').select(['life', 'last_position']).execute();
    expect([new Set(lives.map(({ life }) => life)).size, lives.length]).toEqual([3, 3]);
    expect(lives.filter(({ last_position }) => last_position === null)).toHaveLength(1);
    const records = await reader
      .selectFrom('audit_events')
      .where('type', '=', 'changes.cursors_expired')
      .select(['actor_id', 'chain'])
      .execute();
    expect(records).toEqual(
      [1, 2].map(() => ({ actor_id: 'expire-cursors', chain: expect.stringMatching(/./) })),
    );
  });

  test('refuses a place without a database', async () => {
    const { code } = await integration(['expire-cursors'], settingsIn(directory()));
    expect(code).toBe(78);
  });
});

import { expect, test } from '@jest/globals';
import { recordBackup } from '../../../src/store/copies/take-copy.js';
import { describeEachDatabase } from '../../support/databases.js';

describeEachDatabase('the record of a backup', (under) => {
  test('has the time of the database, not of the machine', async () => {
    const database = await under.openMigrated();
    await recordBackup({ ...database, clock: () => 5_000 }, { type: 'command', id: 'backup' }, '/folder');
    const records = await database.reader
      .selectFrom('audit_events')
      .select(['type', 'created_at', 'attributes'])
      .execute();
    expect(records.map((each) => ({ ...each, created_at: Number(each.created_at) }))).toEqual([
      { type: 'database.backed_up', created_at: 5_000, attributes: JSON.stringify({ folder: '/folder' }) },
    ]);
  });
});

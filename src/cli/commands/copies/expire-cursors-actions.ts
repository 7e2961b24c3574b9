import type { Config } from '../../../config/config.js';
import { expireCursors } from '../../../store/adapters/lives.js';
import { refuseOtherRelease } from '../../../store/copies/take-copy.js';
import { print } from '../output/print.js';
import { inDatabase, placeOf, useOwnKeys } from './own-database.js';

export async function expireAllCursors(config: Config): Promise<void> {
  await refuseOtherRelease(placeOf(config));
  await inDatabase(placeOf(config), async (database) => {
    await useOwnKeys(database, config);
    await database.write((writer) =>
      expireCursors(writer, database.clock(), { type: 'command', id: 'expire-cursors' }, 'the operator'),
    );
  });
  print('Expired: all cursors. The next request of each reader gets 410, and it loads everything again.');
}

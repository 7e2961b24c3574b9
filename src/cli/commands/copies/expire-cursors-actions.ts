import type { Config } from '../../../config/config.js';
import { readSecretsKeys } from '../../../keys/secrets-key.js';
import { expireCursors } from '../../../store/adapters/lives.js';
import { openDatabase } from '../../../store/copies/open-copy.js';
import { refuseOtherRelease } from '../../../store/copies/take-copy.js';
import { secretsKeyFile } from '../../secrets-key-file.js';
import { print } from '../output/print.js';
import { foreseen } from './foreseen.js';
import { placeOf, useKeys } from './own-database.js';

export async function expireAllCursors(config: Config): Promise<void> {
  await foreseen(async () => {
    await refuseOtherRelease(placeOf(config));
    const database = await openDatabase(placeOf(config));
    try {
      await useKeys(database, readSecretsKeys(secretsKeyFile(config).path));
      await database.write((writer) =>
        expireCursors(writer, Date.now(), { type: 'command', id: 'expire-cursors' }, 'the operator'),
      );
    } finally {
      await database.close();
    }
  });
  print('Expired: all cursors. The next request of each reader gets 410, and it loads everything again.');
}

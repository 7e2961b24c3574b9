/** Writes audited rows, eight at a time, until it is killed, and prints the id of each acknowledged one. */
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { withAuditChains } from '../../../src/store/adapters/operator/audit-chains.js';
import { auditAction } from '../../../src/store/adapters/operator/audit-events.js';
import { openSqlite } from '../../../src/store/dialects/sqlite.js';

const [, , dataDir = '', name = ''] = process.argv;
const { write } = withAuditChains(
  openSqlite(join(dataDir, 'integration.db')),
  () => (bytes) => createHmac('sha256', 'key').update(bytes).digest(),
);
const actor = { type: 'service', id: 'writer' };

async function writeForEver(lane: number): Promise<void> {
  for (let count = 0; ; count += 1) {
    const row = { id: `${name} ${lane} ${count}`, name, version: 'v1', created_at: count, updated_at: count };
    await write(async (writer) => {
      const subject = { type: 'instance', id: row.id };
      await auditAction(writer, count, actor, { type: 'instance.created', subject });
      await writer.insertInto('instances').values(row).execute();
    });
    // A reader may be slower than the disk.
    await new Promise<unknown>((resolve) => process.stdout.write(`${row.id}\n`, resolve));
  }
}

await Promise.all(Array.from({ length: 8 }, (_, lane) => writeForEver(lane)));

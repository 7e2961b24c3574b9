/** Writes rows, eight at a time, until it is killed, and prints the id of each that was acknowledged. */
import { join } from 'node:path';
import { openSqlite } from '../../../src/store/dialects/sqlite.js';

const [, , dataDir = '', name = ''] = process.argv;
const { write } = openSqlite(join(dataDir, 'integration.db'));

async function writeForEver(lane: number): Promise<void> {
  for (let count = 0; ; count += 1) {
    const row = { id: `${name} ${lane} ${count}`, name, version: 'v1', created_at: count, updated_at: count };
    await write((writer) => writer.insertInto('instances').values(row).execute());
    // A reader may be slower than the disk.
    await new Promise<unknown>((resolve) => process.stdout.write(`${row.id}\n`, resolve));
  }
}

await Promise.all(Array.from({ length: 8 }, (_, lane) => writeForEver(lane)));

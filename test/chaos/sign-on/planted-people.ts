import { join } from 'node:path';
import { hashSync } from '@node-rs/argon2';
import type { DemoFilePerson } from '../../../src/cli/demo/demo-file.js';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import type { ServiceProcess } from '../../support/service-process.js';

const PASSWORD = 'a password for the storm';

/** Much lighter than the service's own parameters, which it reads from the hash. */
const PARAMETERS = { memoryCost: 64, timeCost: 1, parallelism: 1 };

/** Gives passwords to workers of the instance with one context each, so that no limit per account applies. */
export function plantPeople(
  { dataDir }: ServiceProcess,
  instanceId: string,
  count: number,
): DemoFilePerson[] {
  const database = new Sqlite(join(dataDir, 'integration.db'), { timeout: 30_000 });
  try {
    const people = database
      .prepare(
        `SELECT accounts.id, accounts.email FROM accounts
           JOIN workers ON workers.account_id = accounts.id JOIN clients ON clients.id = workers.client_id
         WHERE clients.instance_id = ? AND workers.offboarded_at IS NULL AND accounts.id NOT IN (SELECT account_id FROM users)
         GROUP BY accounts.id HAVING count(*) = 1 LIMIT ?`,
      )
      .all(instanceId, count) as { id: string; email: string }[];
    if (people.length < count) {
      throw new Error(`The demo has only ${people.length} such people.`);
    }
    const hash = hashSync(PASSWORD, PARAMETERS);
    const insert = database.prepare(
      `INSERT INTO passwords (account_id, hash, set_at) VALUES (?, ?, ?)
       ON CONFLICT (account_id) DO UPDATE SET hash = excluded.hash`,
    );
    database
      .transaction(() => {
        for (const { id } of people) {
          insert.run(id, hash, Date.now());
        }
      })
      .immediate();
    return people.map(({ email }) => ({ email, password: PASSWORD, note: 'planted' }));
  } finally {
    database.close();
  }
}

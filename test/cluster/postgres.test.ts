import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { describeWith } from '../support/toolchains.js';
import { USUAL_NETWORK, USUAL_PORTS } from './addresses.js';
import { giveToOrdinaryUser } from './parts.js';
import { pgbouncer } from './peers.js';
import { Postgres } from './postgres.js';

const OF_OTHERS = 0o077;

describeWith('pgbouncer', 'the password of PostgreSQL', () => {
  let folder: string | undefined;

  afterEach(() => {
    folder && rmSync(folder, { recursive: true, force: true });
  });

  test('is in no file and in no argument that other users of the machine can read', () => {
    // Not in the folder of the run, which PostgreSQL as another user cannot enter.
    const made = mkdtempSync(join(tmpdir(), 'cluster-'));
    folder = made;
    giveToOrdinaryUser(made);
    const place = { network: USUAL_NETWORK, ports: USUAL_PORTS, folder: made, logs: made };
    const postgres = new Postgres(place);
    postgres.make();
    const parts = [postgres.primary(), postgres.replica(), pgbouncer(place, postgres.urlAt('127.0.0.11'))];
    expect(parts.filter(({ args }) => args.join(' ').includes(postgres.password))).toEqual([]);
    const files = readdirSync(made, { withFileTypes: true }).filter((entry) => entry.isFile());
    const secret = files.flatMap(({ name }) =>
      readFileSync(join(made, name), 'utf8').includes(postgres.password) ? [name] : [],
    );
    expect(secret.sort()).toEqual(['password', 'pgpass', 'userlist.txt']);
    const open = [made, ...secret.map((name) => join(made, name))];
    expect(open.filter((path) => (statSync(path).mode & OF_OTHERS) !== 0)).toEqual([]);
  });
});

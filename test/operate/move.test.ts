import { copyFileSync, existsSync } from 'node:fs';
import { beforeAll, expect } from '@jest/globals';
import { withPostgres } from '../store/moves/rig.js';
import { databaseUnderTest } from '../support/databases.js';
import { PACKAGE_NAME, packageOfRun } from '../support/packed.js';
import { webhookReceivers } from '../support/webhooks/receiver.js';
import { inMove } from './blocks.js';
import { machines, testOnLinux } from './machine.js';
import { httpsReceiver, newTenant } from './tenant.js';

const newMachine = machines();
const newReceiver = webhookReceivers();
const under = databaseUnderTest('PostgreSQL');
let tarball: string;

beforeAll(async () => {
  tarball = await packageOfRun();
}, 300_000);

testOnLinux(
  'an operator comes from SQLite to PostgreSQL and back with the blocks of the page, also after a failed move',
  async () => {
    const { databaseUrl = '' } = await under.newEmptyPlace();
    const machine = await newMachine();
    copyFileSync(tarball, machine.path(`root/${PACKAGE_NAME}.tar.gz`));
    const { receiver, settings } = await httpsReceiver(newReceiver, machine);
    await machine.install(settings);
    await machine.ready();
    const tenant = await newTenant(machine, receiver);
    const mark = `${machine.dataDir}/moved-to-postgresql.json`;

    await withPostgres(databaseUrl, (client) => client.query('create table cats (name text)'));
    await machine.type(inMove.storeAddress, { input: databaseUrl });
    await machine.type(inMove.move, { codes: [78] });
    await machine.type(inMove.giveUp);
    await machine.ready();
    expect([await machine.statusWith(tenant.apiKey), existsSync(mark)]).toEqual([200, false]);

    await withPostgres(databaseUrl, (client) => client.query('drop table cats'));
    await machine.type(inMove.storeAddress, { input: databaseUrl });
    expect(await machine.type(inMove.move)).toContain('The move is complete');
    await machine.type(inMove.start);
    await machine.ready();
    expect(await machine.statusWith(tenant.apiKey)).toBe(200);
    await tenant.addClient('Fennimore Tea');
    await receiver.next(({ event }) => event.data.name === 'Fennimore Tea');
    const clients = await withPostgres(databaseUrl, async (client) => {
      const { rows } = await client.query('select name from clients');
      return rows;
    });
    expect(clients).toEqual([{ name: 'Fennimore Tea' }]);

    await machine.type(inMove.wayBack);
    await machine.ready();
    expect(await machine.statusWith(tenant.apiKey)).toBe(200);
    await tenant.addClient('Marrow & Pike');
    await receiver.next(({ event }) => event.data.name === 'Marrow & Pike');
  },
  600_000,
);

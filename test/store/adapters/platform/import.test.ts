import { expect, test } from '@jest/globals';
import { PlatformServiceService } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { platformService } from '../../../../src/rpc/domain-server/platform/index.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { rpcRigs, TOKENS } from '../../../rpc/rig.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { platformDependencies } from '../../../support/platform-dependencies.js';
import { importing, locationRecord, openImport, workerRecord } from './import-call.js';
import { newPlatform } from './people.js';

describeEachDatabase('an import', (under) => {
  const rigs = rpcRigs();

  async function serving() {
    const platform = await newPlatform(under);
    const rig = await rigs.start([
      platformService(platformDependencies(platformUnitOfWork(platform.database))),
    ]);
    const names = async () => {
      const rows = await platform.database.reader.selectFrom('locations').select('name').execute();
      return rows.map(({ name }) => name).sort();
    };
    return { ...platform, ...rig, names };
  }

  test('refuses the addresses and countries that its calls refuse', async () => {
    const { address, client, newEvents } = await serving();
    const clientId = client.id;
    const emails = ['a..b@x.com', '.a@x.com', 'a@b', 'a@x.com.', 'a\u200bb@x.com', '\u00fcn\u00ef@x.com'];
    const { imported, refused } = await importing(address, [
      ...emails.map((email) => ({
        $case: 'user' as const,
        value: { clientId, email, withoutManager: false },
      })),
      ...emails.map((email) => workerRecord(clientId, email)),
      ...['UK', 'XX'].map((isoCountryCode) => ({
        $case: 'location' as const,
        value: { clientId, name: isoCountryCode, address: { isoCountryCode } },
      })),
    ]);
    expect(imported).toEqual([]);
    const code = 'INVALID_REQUEST';
    expect(refused).toEqual([
      ...[...emails, ...emails].map((_, index) => ({ line: index + 1, code, paths: ['email'] })),
      { line: 13, code, paths: ['address.iso_country_code'] },
      { line: 14, code, paths: ['address.iso_country_code'] },
    ]);
    expect(await newEvents()).toEqual([]);
  });

  test('creates each kind of thing, line by line, and reports those that are refused', async () => {
    const { address, client, instance, newEvents, run } = await serving();
    const clientId = client.id;
    const { last, imported, refused, doneFlags } = await importing(address, [
      { $case: 'client', value: { instanceId: instance.id, name: 'Brindlewood' } },
      { $case: 'role', value: { clientId, name: 'Clerk', permissions: [] } },
      { $case: 'user', value: { clientId, email: 'ada@example.com', withoutManager: false } },
      {
        $case: 'unitType',
        value: { clientId, name: 'Department', units: [{ name: 'Legal', subUnits: [] }] },
      },
      { $case: 'unit', value: { unitTypeId: 'out_1', name: 'Finance', subUnits: [] } },
      {
        $case: 'location',
        value: { clientId, name: 'Harbour Office', address: { city: 'Portland', isoCountryCode: 'US' } },
      },
      { $case: 'jobTitle', value: { clientId, title: ' Cook ' } },
      workerRecord(clientId, 'ines@example.com'),
      workerRecord(clientId, 'nobody', ['oun_1', 'oun_1']),
      workerRecord(clientId, 'otto@example.com', ['oun_1']),
      undefined as never,
    ]);
    expect(imported.map(({ line, id }) => [line, id.slice(0, 4)])).toEqual([
      [1, 'cli_'],
      [2, expect.any(String)],
      [3, 'usr_'],
      [4, 'out_'],
      [6, 'olo_'],
      [7, 'Cook'],
      [8, 'wrk_'],
    ]);
    expect(refused).toEqual([
      { line: 5, code: 'UNIT_TYPE_NOT_FOUND', paths: [] },
      { line: 9, code: 'INVALID_REQUEST', paths: ['email', 'unit_ids[1]'] },
      { line: 10, code: 'UNIT_NOT_FOUND', paths: ['unit_ids[0]'] },
      { line: 11, code: 'INVALID_REQUEST', paths: ['record'] },
    ]);
    expect(last).toEqual({
      read: 11,
      imported: 7,
      refused: 4,
      importedLines: [],
      refusedLines: [],
      done: true,
    });
    expect(doneFlags.filter(Boolean)).toHaveLength(1);
    const events = await newEvents();
    const located = events.find(({ type }) => type === 'organization_location.created');
    expect(located?.data.address).toMatchObject({ city: 'Portland', isoCountryCode: 'US', zoneCode: null });
    expect(events.map(({ type }) => type).sort()).toEqual([
      'client.created',
      'organization_location.created',
      'organization_unit.created',
      'organization_unit_type.created',
      'user.created',
      'worker.onboarded',
    ]);
    // The account was made before the unit was looked for.
    await expect(run(({ accounts }) => accounts.findByEmail('otto@example.com'))).resolves.toBeUndefined();
  });

  test('of many lines begins and answers them in their order', async () => {
    const { address, client, names } = await serving();
    const records = Array.from({ length: 300 }, (_, index) => locationRecord(client.id, `${index % 150}`));
    const { last, imported, refused } = await importing(address, records);
    expect(last).toMatchObject({ read: 300, imported: 150, refused: 150 });
    expect(imported.map(({ line }) => line)).toEqual(Array.from({ length: 150 }, (_, index) => index + 1));
    expect(refused.map(({ line }) => line)).toEqual(Array.from({ length: 150 }, (_, index) => index + 151));
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['ALREADY_EXISTS']));
    expect(await names()).toHaveLength(150);
  });

  test('that is only tried out says the same and writes nothing', async () => {
    const { address, client, names, newEvents, dataVersions } = await serving();
    const before = await dataVersions();
    const records = ['A', '', 'A'].map((name) => locationRecord(client.id, name, `key of ${name}`));
    const { last, imported, refused } = await importing(address, records, { dryRun: true });
    expect(last).toMatchObject({ read: 3, imported: 2, refused: 1, done: true });
    // The third is not in the way of the first: nothing was stored.
    expect(imported).toEqual([
      { line: 1, id: '' },
      { line: 3, id: '' },
    ]);
    expect(refused).toEqual([{ line: 2, code: 'INVALID_REQUEST', paths: ['name'] }]);
    expect([await names(), await newEvents(), await dataVersions()]).toEqual([[], [], before]);
    const { imported: written } = await importing(address, records);
    expect(written).toEqual([
      { line: 1, id: expect.stringMatching(/^olo_/) },
      { line: 3, id: written[0]?.id },
    ]);
  });

  test('that stops at the first refusal writes nothing behind it', async () => {
    const { address, client, names } = await serving();
    const records = ['A', 'B', '', 'C', 'D'].map((name) => locationRecord(client.id, name));
    const { last, refused, refusal } = await importing(address, records, { stopAtFirstRefusal: true });
    expect(refusal).toBeUndefined();
    expect(last).toMatchObject({ read: 3, imported: 2, refused: 1, done: true });
    expect(refused).toEqual([{ line: 3, code: 'INVALID_REQUEST', paths: ['name'] }]);
    expect(await names()).toEqual(['A', 'B']);
  });

  test('stopped by a refusal is over while the importer still has lines to send', async () => {
    const { address, client } = await serving();
    const call = openImport(address);
    call.begin({ stopAtFirstRefusal: true });
    call.lines({ line: 1, record: locationRecord(client.id, '') });
    await expect(call.rest()).resolves.toMatchObject({ responses: [{ done: true, refused: 1 }] });
  });

  test('refuses lines with NUL in an id or a key, and goes on', async () => {
    const { address, client, names } = await serving();
    const records = [
      locationRecord(`${client.id}\0`, 'A'),
      locationRecord(client.id, 'B', 'key\0'),
      locationRecord(client.id, 'C'),
    ];
    const { refused, refusal } = await importing(address, records);
    expect(refusal).toBeUndefined();
    expect(refused).toEqual([
      { line: 1, code: 'INVALID_REQUEST', paths: ['client_id'] },
      { line: 2, code: 'INVALID_REQUEST', paths: ['idempotency_key'] },
    ]);
    expect(await names()).toEqual(['C']);
  });

  test('repeated with its keys says the same and writes nothing again, as the call itself would', async () => {
    const { address, client, newEvents, channel } = await serving();
    const records = ['A', 'B'].map((name) => locationRecord(client.id, name, `key of ${name}`));
    const first = await importing(address, records);
    await newEvents();
    const second = await importing(address, records);
    expect(second).toMatchObject({ imported: first.imported, refused: [] });
    const { createLocation } = channel(TOKENS.platform).clientOf(PlatformServiceService);
    const request = { clientId: client.id, name: 'A', idempotencyKey: 'key of A' };
    const { location } = await createLocation(request, { requestId: 'r', deadlineMs: 20_000 });
    expect(location?.id).toBe(first.imported[0]?.id);
    expect(await newEvents()).toEqual([]);
    const { refused } = await importing(address, [locationRecord(client.id, 'C', 'key of A')]);
    expect(refused).toEqual([{ line: 1, code: 'IDEMPOTENCY_KEY_REUSED', paths: [] }]);
  });

  test('answers while the importer waits to continue with what it hears', async () => {
    const { address, client, run } = await serving();
    const call = openImport(address);
    call.begin();
    const unitType = { clientId: client.id, name: 'Department', units: [] };
    call.lines({ line: 1, record: { $case: 'unitType', value: unitType } });
    const { importedLines } = await call.next();
    const unitTypeId = importedLines[0]?.id ?? '';
    call.lines({ line: 2, record: { $case: 'unit', value: { unitTypeId, name: 'Legal', subUnits: [] } } });
    const { importedLines: units } = await call.next();
    await expect(run((changes) => changes.units.find(units[0]?.id ?? ''))).resolves.toMatchObject({
      name: 'Legal',
    });
    call.end();
    await expect(call.rest()).resolves.toMatchObject({ responses: [{ read: 2, imported: 2, done: true }] });
  });

  const tooMany = Array.from({ length: 1_001 }, (_, line) => ({ line, record: undefined }));
  const options = { dryRun: false, stopAtFirstRefusal: false, reportIds: false };
  test.each([
    ['options after the first message', { $case: 'options', value: options }, 'options'],
    ['more lines than a message may have', { $case: 'lines', value: { lines: tooMany } }, 'lines.lines'],
    ['a message of nothing', undefined, 'part'],
  ] as const)('ends at %s; what came before is told and stays', async (_, part, path) => {
    const { address, client, names } = await serving();
    const call = openImport(address);
    call.begin();
    call.lines({ line: 7, record: locationRecord(client.id, 'A') });
    call.send(part as never);
    const { responses, refusal } = await call.rest();
    expect(responses).toMatchObject([{ imported: 1, importedLines: [{ line: 7 }], done: false }]);
    expect(refusal).toMatchObject({ code: 'ERROR_CODE_INVALID_REQUEST', fieldViolations: [{ path }] });
    expect(await names()).toEqual(['A']);
  });

  test.each([
    ['lines come first', true],
    ['nothing comes at all', false],
  ])('is refused when %s', async (_, withLines) => {
    const { address, client, names } = await serving();
    const call = openImport(address);
    if (withLines) {
      call.lines({ line: 1, record: locationRecord(client.id, 'A') });
    }
    call.end();
    const { responses, refusal } = await call.rest();
    expect(responses).toEqual([]);
    expect(refusal).toMatchObject({
      code: 'ERROR_CODE_INVALID_REQUEST',
      fieldViolations: [{ path: 'options' }],
    });
    expect(await names()).toEqual([]);
  });
});

import { expect, test } from '@jest/globals';
import { DirectoryServiceService } from '../../../generated/proto/integration/directory/v1/directory.js';
import { MaintenanceServiceService } from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import { allServices } from '../../../src/rpc/domain-server/index.js';
import { PageTurns } from '../../../src/rpc/message-streams.js';
import { oneClock } from '../../domain/clock.js';
import { rpcRigs, TOKENS } from '../rig.js';
import { request } from './directory-rig.js';

const rigs = rpcRigs();

test('the pages of lists make way for the short calls of every service, answered or refused', async () => {
  const turns = new PageTurns();
  let told = 0;
  turns.shortCall = () => {
    told += 1;
  };
  const services = allServices(
    {
      directory: {},
      maintenance: {
        purge: { remove: async () => 0 },
        retention: { credentialsMs: 1, sessionIdleMs: 1, idempotencyMs: 1, auditMs: 1 },
        ...oneClock(() => 1),
      },
      platform: { unitOfWork: {} },
      operator: {},
      signOn: {},
      webhooks: { unitOfWork: { rows: {} } },
      deliveries: {},
    } as never,
    turns,
  );
  const rig = await rigs.start(services);
  const call = { requestId: 'r', deadlineMs: 20_000 };
  const maintenance = rig.channel(TOKENS.maintenance).clientOf(MaintenanceServiceService);
  await maintenance.purgeExpired({ limit: 1 }, call);
  expect(told).toBe(1);
  const directory = rig.channel(TOKENS.edge).clientOf(DirectoryServiceService);
  const read = { ...request('listJobTitles'), context: undefined };
  await expect(directory.read(read, call)).rejects.toThrow('The context is missing.');
  expect(told).toBe(2);
  const rest = directory.readRest({ read, rest: undefined }, call)[Symbol.asyncIterator]();
  await expect(rest.next()).rejects.toThrow('The context is missing.');
  expect(told).toBe(2);
});

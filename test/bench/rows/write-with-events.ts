import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlatformServiceService } from '../../../generated/proto/integration/platform/v1/platform.js';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { dataDirIn, startService } from '../subjects/service.js';
import { makeWorkplace } from '../subjects/workplace.js';

const NAME = 'one write with 10 events (ms a write)';
const WRITES = 200;
const USERS = 10;

const clientId = demoSeed.clients[0]?.id ?? '';

/** The cost of events for a change: a permission edit that moves ten users, against one that moves one. */
export const writeWithEvents: Comparison = {
  rows: { [NAME]: { referenceName: 'with 1 event', goal: 2, higherIsBetter: false } },
  warmUpRounds: 1,
  rounds: 5,
  setUp: async (scope) => {
    const platform = await startPlatform(scope);
    const many = await usersWithRole(platform, 'Bench role of ten', USERS);
    const one = await usersWithRole(platform, 'Bench role of one', 1);
    const timeOf = async (edits: { roleId: string }) => {
      const startedAt = performance.now();
      for (let index = 0; index < WRITES; index += 1) {
        const permissions = [`bench.${randomUUID()}`];
        const { role } = await platform.editRolePermissions(
          { roleId: edits.roleId, permissions, userIds: [] },
          call(),
        );
        edits.roleId = role?.id ?? '';
      }
      return { [NAME]: (performance.now() - startedAt) / WRITES };
    };
    return { ours: () => timeOf(many), reference: () => timeOf(one) };
  },
};

async function startPlatform(scope: Scope) {
  const workplace = makeWorkplace(scope);
  await startService(scope, workplace);
  const { grpcAddress, platformToken } = JSON.parse(
    readFileSync(join(dataDirIn(workplace), 'demo.json'), 'utf8'),
  ) as { grpcAddress: string; platformToken: string };
  const channel = new RpcChannel(grpcAddress, platformToken);
  scope.onEnd(() => channel.close());
  return channel.clientOf(PlatformServiceService);
}

async function usersWithRole(
  platform: Awaited<ReturnType<typeof startPlatform>>,
  name: string,
  count: number,
): Promise<{ roleId: string }> {
  const { role } = await platform.createRole({ clientId, name, permissions: ['bench'] }, call());
  const roleId = role?.id ?? '';
  for (let index = 0; index < count; index += 1) {
    const email = `${name.replaceAll(' ', '.')}.${index}@example.com`;
    await platform.createUser({ clientId, email, roleId, withoutManager: true }, call());
  }
  return { roleId };
}

function call() {
  return { requestId: randomUUID(), deadlineMs: 10_000 };
}

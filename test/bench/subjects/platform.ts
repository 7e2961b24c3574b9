import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorServiceService } from '../../../generated/proto/integration/operator/v1/operator.js';
import { PlatformServiceService } from '../../../generated/proto/integration/platform/v1/platform.js';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import type { Scope } from '../harness/scope.js';
import { dataDirIn } from './service.js';

/** Writes whose time is taken together. */
export const WRITES = 400;
export const WRITES_AT_ONCE = 16;

export type Platform = ReturnType<typeof clientsOf>['platform'];
export type Operator = ReturnType<typeof clientsOf>['operator'];

const [client] = demoSeed.clients;
const userIds = client?.users.filter(({ status }) => status === 'ACTIVE').map(({ id }) => id as string) ?? [];

/** Of the service that runs there. */
export function clientsOf(scope: Scope, workplace: string) {
  const demo = JSON.parse(readFileSync(join(dataDirIn(workplace), 'demo.json'), 'utf8')) as {
    grpcAddress: string;
    platformToken: string;
    operatorToken: string;
  };
  const over = (token: string) => {
    const channel = new RpcChannel(demo.grpcAddress, token);
    scope.onEnd(() => channel.close());
    return channel;
  };
  return {
    platform: over(demo.platformToken).clientOf(PlatformServiceService),
    operator: over(demo.operatorToken).clientOf(OperatorServiceService),
  };
}

export function newCall() {
  return { requestId: randomUUID(), deadlineMs: 10_000 };
}

/** Renames one of the users of the demo, in turn. */
export function renameUser(platform: Platform, index: number): Promise<unknown> {
  const userId = userIds[index % userIds.length] ?? '';
  return platform.updateUser({ userId, lastName: randomUUID() }, newCall());
}

/** Milliseconds a write, with so many under way at any time. */
export async function timeOfWrites(
  atOnce: number,
  write: (index: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const writeOn = async () => {
    while (next < WRITES) {
      next += 1;
      await write(next);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: atOnce }, writeOn));
  return (performance.now() - startedAt) / WRITES;
}

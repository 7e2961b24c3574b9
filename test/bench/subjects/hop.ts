import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RpcChannel } from '../../../src/rpc/client.js';
import { type AnyMethod, type AnyService, serve } from '../../../src/rpc/handlers.js';
import type { Scope } from '../harness/scope.js';

export const HOP_TOKENS = { streams: 'token-of-an-edge', plain: 'token-of-a-platform' };

/** Paths of methods that roles call and of such as others call; what they carry is bytes. */
const PATHS = {
  streams: '/integration.sign_on.v1.SignOnService/GetUserinfo',
  plain: '/integration.platform.v1.PlatformService/GetUser',
};
export type Way = keyof typeof PATHS;

const QUESTION = Buffer.alloc(300, 'q');
const ANSWER = Buffer.alloc(600, 'a');

function definitionOf(way: Way): AnyService {
  const asItIs = (bytes: Buffer) => Buffer.from(bytes);
  const method: AnyMethod = {
    path: PATHS[way],
    requestStream: false,
    responseStream: false,
    requestSerialize: asItIs,
    requestDeserialize: asItIs,
    responseSerialize: asItIs,
    responseDeserialize: asItIs,
  };
  return { ask: method };
}

export function hopServices() {
  return (['streams', 'plain'] as const).map((way) => serve(definitionOf(way), { ask: async () => ANSWER }));
}

export interface HopCost {
  /** Microseconds of processor time a call. */
  caller: number;
  server: number;
  callsPerSecond: number;
}

/** A server in a process of its own, and this process as its caller. */
export async function startHop(scope: Scope) {
  const directory = mkdtempSync(join(tmpdir(), 'hop-'));
  scope.onEnd(() => rmSync(directory, { recursive: true }));
  const socket = join(directory, 's');
  const server = fork(new URL('./hop-server.ts', import.meta.url), [socket], {
    stdio: 'inherit',
    execArgv: ['--import', 'tsx'],
  });
  scope.onEnd(() => {
    server.disconnect();
  });
  await once(server, 'message');
  const usedByServer = async () => {
    const told = once(server, 'message');
    server.send('usage');
    const [{ user, system }] = (await told) as [NodeJS.CpuUsage];
    return user + system;
  };
  const asks = (way: Way) => {
    const channel = new RpcChannel(`unix:${socket}`, HOP_TOKENS[way]);
    scope.onEnd(() => channel.close());
    const { ask } = channel.clientOf(definitionOf(way)) as unknown as {
      ask(question: Buffer, options: object): Promise<Buffer>;
    };
    return () => ask(QUESTION, { requestId: 'c0ffee00-0000-4000-8000-000000000000', deadlineMs: 5_000 });
  };
  const ask = { streams: asks('streams'), plain: asks('plain') };

  return async (way: Way, callers: number, calls: number): Promise<HopCost> => {
    let left = calls;
    const callOn = async () => {
      while (left > 0) {
        left -= 1;
        await ask[way]();
      }
    };
    const before = await usedByServer();
    const { user, system } = process.cpuUsage();
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: callers }, callOn));
    const seconds = (performance.now() - startedAt) / 1_000;
    const caller = process.cpuUsage();
    const after = await usedByServer();
    return {
      caller: (caller.user + caller.system - user - system) / calls,
      server: (after - before) / calls,
      callsPerSecond: calls / seconds,
    };
  };
}

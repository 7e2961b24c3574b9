import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Scope } from '../harness/scope.js';

const PROGRAM = new URL('./webhook-receiver.js', import.meta.url);

export interface Taken {
  taken: number;
  /** From the time that the event tells to its receipt; only when asked for. */
  delaysMs: number[];
  /** Of which user, by first name, and when; only when asked for. */
  receipts: { name: string; at: number }[];
}

export interface WebhookReceiver {
  port: number;
  addressOf(path: string): string;
  /** Begins to count again; `all` resolves when so many were acknowledged. */
  expect(count: number, options?: { isTimed?: boolean }): Promise<{ all: Promise<Taken> }>;
}

/** All subscribers, in one process. */
export async function startWebhookReceiver(scope: Scope): Promise<WebhookReceiver> {
  const child = fork(PROGRAM, { stdio: 'inherit', execArgv: [] });
  scope.onEnd(() => {
    child.kill();
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    port,
    addressOf: (path) => `http://127.0.0.1:${port}${path}`,
    expect: async (expected, { isTimed = false } = {}) => {
      const ready = once(child, 'message');
      child.send({ expected, isTimed });
      await ready;
      return { all: once(child, 'message').then(([taken]) => taken as Taken) };
    },
  };
}

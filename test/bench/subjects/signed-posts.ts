import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Scope } from '../harness/scope.js';

export const SIGNED_POSTS_NAME = 'bare loop of signed POSTs';

const PROGRAM = new URL('./signed-posts.js', import.meta.url);

export interface SignedPosts {
  origin: string;
  path: string;
  count: number;
  /** As long as those of the service. */
  body: string;
}

/** A process that posts so many signed bodies over 32 connections; resolves when all were answered. */
export async function signedPosts(scope: Scope): Promise<(work: SignedPosts) => Promise<void>> {
  const child = fork(PROGRAM, { stdio: 'inherit', execArgv: [] });
  scope.onEnd(() => {
    child.kill();
  });
  await once(child, 'message');
  return async (work) => {
    const done = once(child, 'message');
    child.send(work);
    await done;
  };
}

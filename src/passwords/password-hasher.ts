import { availableParallelism } from 'node:os';
import { normalizedPassword } from '../domain/credentials/password-rules.js';
import type { PasswordHasher } from '../domain/credentials/passwords.js';
import { JobQueue } from './job-queue.js';
import { threadsOf } from './thread.js';

/** With the parameters of every hash, and of no password: what is compared with it takes as long and never matches. */
const NOBODYS_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGhhcyB0aGlzLg$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';

const THREAD_FILE = new URL('./password-thread.js', import.meta.url);

const MAX_WAIT_MS = 3_000;

export interface PasswordHasherOptions {
  /** As many as there are processors unless given: of low priority, they take what nobody else needs. */
  threads?: number;
  /** Beyond this expected wait a password is refused. */
  maxWaitMs?: number;
  /** A thread ended that nobody asked to end; the next one is on its way. */
  onThreadDeath?(cause: unknown): void;
  /** Another one for tests, which run the sources. */
  threadFile?: URL;
}

/** A hasher with threads of its own, which it holds until it is closed. */
export interface ThreadedPasswordHasher extends PasswordHasher {
  close(): Promise<void>;
}

export function threadedPasswordHasher({
  threads = availableParallelism(),
  maxWaitMs = MAX_WAIT_MS,
  onThreadDeath = () => undefined,
  threadFile = THREAD_FILE,
}: PasswordHasherOptions = {}): ThreadedPasswordHasher {
  const queue = new JobQueue({ threads, maxWaitMs, onThreadDeath, start: threadsOf(threadFile) });
  return {
    hash: async (password) => {
      const answer = await queue.do({ password: normalizedPassword(password) });
      return (answer as { hash: string }).hash;
    },
    verify: async (hash, password) => {
      const answer = await queue.do({
        password: normalizedPassword(password),
        hash: hash ?? NOBODYS_HASH,
      });
      return hash !== undefined && (answer as { matches: boolean }).matches;
    },
    close: () => queue.close(),
  };
}

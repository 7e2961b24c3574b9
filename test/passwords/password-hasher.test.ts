import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { ErrorCode } from '../../src/errors/service-error.js';
import { passwordThreadsFor, threadedPasswordHasher } from '../../src/passwords/password-hasher.js';
import { passwordHasher, sourceThread } from '../support/password-hasher.js';

test('a machine with many processors gets no more threads than fit into 1 GiB', () => {
  expect([1, 2, 16, 17, 128].map(passwordThreadsFor)).toEqual([1, 2, 16, 16, 16]);
});

describe('a password', () => {
  const hasher = passwordHasher({ threads: 2 });

  test('is hashed with argon2id, 19 MiB, two passes, one lane, and a random salt', async () => {
    const hashes = await Promise.all([hasher.hash('correct horse'), hasher.hash('correct horse')]);
    for (const hash of hashes) {
      expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    }
    expect(hashes[0]).not.toBe(hashes[1]);
  });

  test('matches its hash, and no other does', async () => {
    const hash = await hasher.hash('correct horse');
    const tried = [
      'correct horse',
      'Correct horse',
      'correct horse ',
      'correct hors',
      '',
      'x'.repeat(10_000),
    ];
    const matching: string[] = [];
    for (const password of tried) {
      // One after the other: on a busy machine, the last would wait too long.
      if (await hasher.verify(hash, password)) {
        matching.push(password);
      }
    }
    expect(matching).toEqual(['correct horse']);
  });

  test.each([
    ['composed and decomposed', 'pass\u00e9word', 'passe\u0301word'],
    ['full width and plain', '\uff50\uff41\uff53\uff53word1', 'password1'],
    ['of other scripts', 'パスワード長い', 'ﾊﾟｽﾜｰﾄﾞ長い'],
  ])('is the same however it was typed: %s', async (_, one, other) => {
    await expect(hasher.verify(await hasher.hash(one), other)).resolves.toBe(true);
  });

  test('may hold NUL and what is no character', async () => {
    const hash = await hasher.hash('one\0two \ud800 three');
    await expect(hasher.verify(hash, 'one\0two \ud800 three')).resolves.toBe(true);
    await expect(hasher.verify(hash, 'one')).resolves.toBe(false);
  });

  test('of an unknown account never matches', async () => {
    await expect(hasher.verify(undefined, '')).resolves.toBe(false);
    await expect(hasher.verify(undefined, 'password')).resolves.toBe(false);
  });

  test('of an unknown account is compared with a hash of the same cost', async () => {
    const [cost = ''] = /^.*,p=1\$/.exec(await hasher.hash('correct horse')) ?? [];
    const choosy = threadedPasswordHasher({ threads: 1, threadFile: threadThatRefusesHashesExcept(cost) });
    await expect(choosy.verify(undefined, 'wrong')).resolves.toBe(false);
    await expect(choosy.verify(cost.replace('19456', '8'), 'wrong')).rejects.toThrow(/m=8,t=2/);
    await choosy.close();
  });

  test('is not compared with a text that is no hash: that is an internal error', async () => {
    await expect(hasher.verify('no hash', 'password')).rejects.toThrow(/could not be hashed or checked/);
    await expect(hasher.verify(await hasher.hash('after it'), 'after it')).resolves.toBe(true);
  });
});

describe('many at once', () => {
  const hasher = passwordHasher({ threads: 1, maxWaitMs: 200 });

  test('are served in turn, or refused with a time to come back', async () => {
    const results = await Promise.allSettled(Array.from({ length: 40 }, () => hasher.verify(undefined, 'x')));
    const refused = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(results.length - refused.length).toBeGreaterThanOrEqual(1);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    for (const { reason } of refused) {
      expect(reason).toMatchObject({ code: ErrorCode.UNAVAILABLE, retryAfterSeconds: 1 });
    }
  });

  test('leave the event loop free', async () => {
    await hasher.verify(undefined, 'warm');
    let turns = 0;
    const turning = setInterval(() => {
      turns += 1;
    }, 1);
    for (let count = 0; count < 10; count += 1) {
      await hasher.verify(undefined, 'x');
    }
    clearInterval(turning);
    expect(turns).toBeGreaterThan(10);
  });
});

function threadThatRefusesHashesExcept(beginning: string): URL {
  const code = `import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ hash }) =>
      parentPort.postMessage(hash.startsWith('${beginning}') ? { matches: true } : { failure: hash }));`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('threads give way to the event loop and to those that sign', async () => {
  const hasher = threadedPasswordHasher({ threads: 1, threadFile: sourceThread });
  const nicenesses = () =>
    readdirSync('/proc/self/task').map((thread) => {
      const [, facts = ''] = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(/\) (?=\w )/);
      return Number(facts.split(' ')[16]);
    });
  const before = nicenesses().filter((niceness) => niceness >= 10).length;
  await hasher.verify(undefined, 'x');
  const after = nicenesses().filter((niceness) => niceness >= 10).length;
  await hasher.close();
  expect(after - before).toBeGreaterThanOrEqual(1);
});

describe('a hasher that is closed', () => {
  test('refuses waiting and new jobs', async () => {
    const hasher = threadedPasswordHasher({ threads: 1, threadFile: sourceThread });
    const waiting = [hasher.hash('one'), hasher.hash('two')].map((hash) => hash.catch(({ code }) => code));
    await hasher.close();
    await expect(Promise.all(waiting)).resolves.toEqual([ErrorCode.UNAVAILABLE, ErrorCode.UNAVAILABLE]);
    await expect(hasher.hash('three')).rejects.toMatchObject({ code: ErrorCode.UNAVAILABLE });
  });
});

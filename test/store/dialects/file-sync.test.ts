import { describe, expect, test } from '@jest/globals';
import { FileSync } from '../../../src/store/dialects/file-sync.js';

/** A disk that takes its time until it is told. */
function slowFile() {
  const syncs: { end(): void; fail(error: Error): void }[] = [];
  let closed = false;
  return {
    syncs,
    isClosed: () => closed,
    sync: () => new Promise<void>((end, fail) => void syncs.push({ end, fail })),
    close: () => {
      closed = true;
    },
  };
}

const turn = () => new Promise(setImmediate);

describe('waiting for the disk', () => {
  test('one wait serves all who asked before it began, and none who asked later', async () => {
    const file = slowFile();
    const disk = new FileSync(file, () => undefined);
    const served: string[] = [];
    const ask = (name: string) => disk.done().then(() => served.push(name));
    const first = ask('first');
    const later = [ask('second'), ask('third')];
    await turn();
    expect(file.syncs).toHaveLength(1);
    file.syncs[0]?.end();
    await first;
    await turn();
    expect(served).toEqual(['first']);
    expect(file.syncs).toHaveLength(2);
    file.syncs[1]?.end();
    await Promise.all(later);
    expect(served).toEqual(['first', 'second', 'third']);
    expect(file.syncs).toHaveLength(2);
  });

  test('after a wait that failed nothing is promised any more', async () => {
    const file = slowFile();
    const heard: unknown[] = [];
    const disk = new FileSync(file, (error) => heard.push(error));
    const failure = new Error('EIO');
    disk.assertSound();
    const first = disk.done();
    const second = disk.done();
    file.syncs[0]?.fail(failure);
    await expect(first).rejects.toBe(failure);
    await expect(second).rejects.toBe(failure);
    await expect(disk.done()).rejects.toBe(failure);
    expect(() => disk.assertSound()).toThrow(failure);
    expect(file.syncs).toHaveLength(1);
    expect(heard).toEqual([failure]);
  });

  test('the file is closed after the last wait', async () => {
    const file = slowFile();
    const disk = new FileSync(file, () => undefined);
    const waiting = disk.done();
    const closing = disk.close();
    await turn();
    expect(file.isClosed()).toBe(false);
    file.syncs[0]?.end();
    await Promise.all([waiting, closing]);
    expect(file.isClosed()).toBe(true);
  });
});

import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { newTemporaryDirectory } from '../support/temporary-directory.js';

const Sequencer = createRequire(import.meta.url)('../support/runner/sequencer.cjs');

interface File {
  path: string;
  duration?: number;
}

const BYTES: Record<string, number> = {
  '/here/test/guides/go.test.ts': 350,
  '/here/test/store/list.test.ts': 20_000,
  '/here/test/store/small.test.ts': 900,
};

/** Jest makes a sequencer for each run; what it has measured is in a file of the cache directory. */
function runs() {
  const config = {
    id: 'a',
    rootDir: '/here',
    cacheDirectory: newTemporaryDirectory(),
    cache: true,
    haste: {},
  };
  const context = { config, hasteFS: { getSize: (path: string) => BYTES[path] } };
  const files = () => Object.keys(BYTES).map((path) => ({ path, context }));
  const names = (sorted: readonly File[]) => sorted.map(({ path }) => path.replace('/here/test/', ''));
  return {
    order: () => names(new Sequencer({}).sort(files())),
    measured: (results: Record<string, { runtime: number; numFailingTests?: number }>) => {
      const testResults = Object.entries(results).map(([path, { runtime, numFailingTests = 0 }]) => ({
        ...{ testFilePath: `/here/test/${path}`, numFailingTests, skipped: false },
        perfStats: { runtime, start: 0, end: runtime },
      }));
      new Sequencer({}).cacheResults(files(), { testResults });
    },
  };
}

test('files that no run has measured begin with those known to take long, then the largest', () => {
  expect(runs().order()).toEqual(['guides/go.test.ts', 'store/list.test.ts', 'store/small.test.ts']);
});

test('files that were measured begin with the longest, and those that failed before all', () => {
  const { order, measured } = runs();
  measured({
    'guides/go.test.ts': { runtime: 100 },
    'store/list.test.ts': { runtime: 900 },
    'store/small.test.ts': { runtime: 500 },
  });
  expect(order()).toEqual(['store/list.test.ts', 'store/small.test.ts', 'guides/go.test.ts']);
  measured({ 'store/small.test.ts': { runtime: 500, numFailingTests: 1 } });
  expect(order()).toEqual(['store/small.test.ts', 'store/list.test.ts', 'guides/go.test.ts']);
});

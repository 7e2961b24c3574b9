import { join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { packageRoot } from '../../src/config/package.js';
import { circlesOf } from './circles.js';
import { ruleSet } from './import-rules.js';

/** A noun and its port may name each other; types are counted too. */
const MOST_IN_A_CIRCLE = 2;

/** Every import of a tree that breaks a rule, as `rule: from -> to`, and every circle. */
export async function brokenImportRules(baseDir = packageRoot): Promise<string[]> {
  const { output } = await cruise(['src', 'workflows', 'generated'], {
    baseDir,
    ruleSet,
    validate: true,
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^generated/sdk/|^src/sdk/typescript/' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      // The usual four seconds are over before the files have been read once.
      cachedInputFileSystem: { cacheDuration: 600_000 },
      // node_modules is beside the house, also for a copy that has none.
      modules: ['node_modules', join(packageRoot, 'node_modules')],
    } as never,
  });
  const { modules, summary } = output as ICruiseResult;
  const importsOf = new Map(
    modules.map(({ source, dependencies }) => [source, dependencies.map(({ resolved }) => resolved)]),
  );
  return [
    ...summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`),
    ...circlesOf(importsOf)
      .filter(({ length }) => length > MOST_IN_A_CIRCLE)
      .map((files) => `a circle has at most two files: ${files.sort().join(' -> ')}`),
  ];
}

import { join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { packageRoot } from '../../src/config/package.js';
import { ruleSet } from './import-rules.js';

/** Every import of a tree that breaks a rule, as `rule: from -> to`. */
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
      // node_modules is beside the house, also for a copy that has none.
      modules: ['node_modules', join(packageRoot, 'node_modules')],
    } as never,
  });
  return (output as ICruiseResult).summary.violations.map(
    ({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`,
  );
}

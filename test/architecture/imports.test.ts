import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/config/package.js';
import { brokenImportRules } from './cruise-imports.js';

test('imports follow the table of the design', async () => {
  expect(await brokenImportRules()).toEqual([]);
});

describe('a violation that is planted', () => {
  let copy: string;
  let found: string[];

  const planted: [file: string, line: string, rule: RegExp][] = [
    [
      'src/config/config.ts',
      `import '../errors/service-error.js';`,
      /^config imports what it may not: src\/config\/config.ts -> src\/errors/,
    ],
    ['src/telemetry/log.ts', `import '../config/config.js';`, /^telemetry imports what it may not/],
    ['src/errors/service-error.ts', `import '../identifiers/base62.js';`, /^errors imports what it may not/],
    ['src/identifiers/base62.ts', `import '../domain/clock.js';`, /^identifiers imports what it may not/],
    ['src/domain/clock.ts', `import '../store/store-error.js';`, /^domain imports what it may not/],
    [
      'src/domain/version.ts',
      `import '../../generated/proto/integration/errors/v1/errors.js';`,
      /^domain imports what it may not: .* -> generated\/proto/,
    ],
    ['src/keys/sealed-box.ts', `import '../store/schema.js';`, /^keys imports what it may not/],
    ['src/passwords/job-queue.ts', `import '../keys/sealed-box.js';`, /^passwords imports what it may not/],
    [
      'src/edge/problem.ts',
      `import '../keys/sealed-box.js';`,
      /^edge imports what it may not: .* -> src\/keys\/sealed-box/,
    ],
    ['src/store/store-error.ts', `import '../rpc/callers.js';`, /^store imports what it may not/],
    ['src/rpc/handlers.ts', `import '../store/schema.js';`, /^rpc imports what it may not/],
    [
      'src/rpc/endpoint.ts',
      `import './domain-server/fields.js';`,
      /^rpc imports what it may not: .* -> src\/rpc\/domain-server/,
    ],
    [
      'src/rpc/domain-server/fields.ts',
      `import '../../store/store.js';`,
      /^domain server imports what it may not/,
    ],
    [
      'src/edge/problem.ts',
      `import '../domain/clock.js';`,
      /^edge imports what it may not: .* -> src\/domain/,
    ],
    [
      'src/edge/apis.ts',
      `import type { Store } from '../store/store.js';`,
      /^edge imports what it may not: .* -> src\/store/,
    ],
    [
      'src/store/migrate.ts',
      `import '../cli/startup-error.js';`,
      /^store imports what it may not: .* -> src\/cli/,
    ],
    [
      'src/cli/startup-error.ts',
      `import '../codegen/layout.js';`,
      /^cli imports what it may not: .* -> src\/codegen/,
    ],
    [
      'workflows/definitions/purge.ts',
      `import { maintenanceActivities } from '../activities/maintenance.js';`,
      /^workflow definitions may import types only/,
    ],
    ['workflows/definitions/index.ts', `import 'node:fs';`, /^workflow definitions use one package only/],
    [
      'workflows/activities/maintenance.ts',
      `import '../../src/errors/service-error.js';`,
      /^workflow activities imports what it may not/,
    ],
    ['workflows/worker.ts', `import './session.js';`, /^the worker loads the SDK of Temporal late/],
    ['src/cli/roles/worker.ts', `import './temporal/work.js';`, /^the worker loads the SDK of Temporal late/],
    ['workflows/log.ts', `import './worker.js';`, /^nothing imports in a circle/],
    [
      'src/domain/platform/rows/people.ts',
      `import type { UserCreation } from '../people/users.js';`,
      /^a circle has at most two files: .*platform\/people\/users\.ts/,
    ],
    [
      'src/domain/nobody-needs-me.ts',
      'export const unused = 1;',
      /^every module is used: .* -> src\/domain\/nobody-needs-me.ts/,
    ],
    ['src/edge/http/exchange.ts', `import './not-there.js';`, /^every import is found/],
  ];

  /** Circles pass other files of these. */
  const whole = ['src/domain', 'workflows'];

  /** The file and what the line imports, as far as they are there. */
  const concerned = ([file, line]: (typeof planted)[number]) => {
    const imported = /'(\..+)\.js'/.exec(line)?.[1];
    return [file, ...(imported ? [`${join(dirname(file), imported)}.ts`] : [])];
  };

  // Not the whole tree again, which takes as long as in the test above.
  beforeAll(async () => {
    copy = mkdtempSync(join(tmpdir(), 'imports-'));
    mkdirSync(join(copy, 'generated'));
    for (const path of [...whole, ...planted.flatMap(concerned)]) {
      if (existsSync(join(packageRoot, path))) {
        cpSync(join(packageRoot, path), join(copy, path), { recursive: true });
      }
    }
    symlinkSync(join(packageRoot, 'node_modules'), join(copy, 'node_modules'));
    writeFileSync(join(copy, 'package.json'), '{ "type": "module" }');
    for (const [file, line] of planted) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      appendFileSync(join(copy, file), `\n${line}\n`);
    }
    found = await brokenImportRules(copy);
  });

  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  test.each(planted)('in %s is caught: %s', (file, _, rule) => {
    expect(found.filter((violation) => violation.includes(file))).toContainEqual(expect.stringMatching(rule));
  });
});

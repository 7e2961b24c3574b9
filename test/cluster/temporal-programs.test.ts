import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryDirectories } from '../support/temporary-directory.js';
import { builtTemporal, programsOf } from './temporal-programs.js';

const newDirectory = temporaryDirectories();

test('a server that was built is found, although it refuses the flags of the CLI', async () => {
  const env = { XDG_CACHE_HOME: newDirectory() };
  const { server } = programsOf(env);
  mkdirSync(dirname(server), { recursive: true });
  writeFileSync(server, '#!/bin/sh\n[ "$*" = --version ] && echo "temporal version 1.30.8"\n', {
    mode: 0o755,
  });
  expect(await builtTemporal({ env })).toMatchObject({ server });
});

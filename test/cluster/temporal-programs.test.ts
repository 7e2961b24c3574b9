import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryDirectories } from '../support/temporary-directory.js';
import { builtTemporal, howToAskTemporal, programsOf } from './temporal-programs.js';

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

test('the cluster prints a command of the CLI of Temporal only where there is one', async () => {
  const folder = newDirectory();
  const env = { PATH: folder, XDG_CACHE_HOME: newDirectory() };
  const printed = () => howToAskTemporal(123, { temporal: 7233 }, 'data', env);
  const killing = '\nKill a node of Temporal; retries go on:\n\n  kill -9 123\n';
  expect(await printed()).toBe(killing);
  writeFileSync(join(folder, 'temporal'), '#!/bin/sh\necho "temporal version 1.8.3"\n', { mode: 0o755 });
  const access = '--address 127.0.0.1:7233 --tls-ca-path data/temporal/ca.crt --namespace demo';
  expect(await printed()).toBe(
    `${killing}\nList the workflows:\n\n  ${folder}/temporal workflow list ${access}\n`,
  );
});

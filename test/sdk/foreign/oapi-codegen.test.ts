import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { tool } from '../../guides/project.js';
import { GO_BUILDS } from '../../support/go-builds.js';
import { kept } from '../../support/kept.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { describeWith } from '../../support/toolchains.js';
import { addProgram, documents, type Peers, startPeers } from './peers.js';

const GENERATOR = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const RUNTIME = 'github.com/oapi-codegen/runtime';
const RUNTIME_VERSION = 'v1.8.0';
const SLOW_MS = 300_000;

const goEnv = (folder: string) => ({
  ...GO_BUILDS,
  GOMODCACHE: join(folder, 'modules'),
  GOBIN: join(folder, 'bin'),
});

/** The generator, and an empty module that requires what its code imports. */
function withGenerator(go: string): Promise<string> {
  return kept('guides/oapi-codegen', `${GENERATOR} ${RUNTIME_VERSION}`, async (folder) => {
    const module = join(folder, 'module');
    mkdirSync(module);
    await tool(go, ['install', GENERATOR], folder, goEnv(folder));
    await tool(go, ['mod', 'init', 'app.example.com/app'], module, goEnv(folder));
    const packages = [RUNTIME, `${RUNTIME}/types`].map((path) => `${path}@${RUNTIME_VERSION}`);
    await tool(go, ['get', ...packages], module, goEnv(folder));
  });
}

describeWith('go', 'the code that oapi-codegen makes of the documents', (go) => {
  const newFolder = temporaryDirectories(afterAll);
  let folder: string;
  let env: Record<string, string>;
  let peers: Peers;

  beforeAll(async () => {
    const generator = await withGenerator(go);
    folder = newFolder();
    env = { ...goEnv(generator), GOPROXY: 'off', GOFLAGS: `${GO_BUILDS.GOFLAGS} -mod=mod` };
    cpSync(join(generator, 'module'), folder, { recursive: true });
    for (const [name, document] of documents) {
      const target = name.replace('-', '');
      mkdirSync(join(folder, target));
      const options = ['-generate', 'types,client', '-package', target, '-o', `${target}/client.go`];
      await tool(join(generator, 'bin/oapi-codegen'), [...options, document], folder);
    }
    addProgram('main.go', folder);
    peers = await startPeers();
  }, SLOW_MS);

  afterAll(() => peers?.stop());

  test(
    'compiles, and reads a list and tokens',
    async () => {
      await tool(go, ['build', '-o', 'program', '.'], folder, env);
      const printed = await tool(join(folder, 'program'), [], folder, peers.env);
      expect(printed.trim().split('\n')).toEqual(peers.lines);
    },
    SLOW_MS,
  );
});

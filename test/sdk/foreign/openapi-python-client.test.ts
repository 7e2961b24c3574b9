import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { tool } from '../../guides/project.js';
import { pythonWithTools } from '../../support/python-tools.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { describeWith } from '../../support/toolchains.js';
import { addProgram, documents, type Peers, startPeers } from './peers.js';

const SLOW_MS = 300_000;

describeWith('python', 'the code that openapi-python-client makes of the documents', (python) => {
  const newFolder = temporaryDirectories(afterAll);
  let folder: string;
  let executable: string;
  let peers: Peers;
  const run = (...args: string[]) =>
    tool(executable, args, folder, { ...peers.env, PYTHONDONTWRITEBYTECODE: '1' });

  beforeAll(async () => {
    executable = await pythonWithTools(python);
    folder = newFolder();
    peers = await startPeers();
    // Its formatter changes no meaning.
    writeFileSync(join(folder, 'settings.json'), JSON.stringify({ post_hooks: [] }));
    for (const [name, document] of documents) {
      const target = ['--meta', 'none', '--output-path', `${name.replace('-', '_')}_client`];
      const options = ['--config', 'settings.json', '--path', document, ...target];
      await run('-m', 'openapi_python_client', 'generate', ...options);
    }
    addProgram('program.py', folder);
  }, SLOW_MS);

  afterAll(() => peers?.stop());

  test(
    'compiles, has consistent types, and reads a list and tokens',
    async () => {
      await run('-m', 'compileall', '-q', 'gateway_client', 'sign_on_client');
      // mypy's cache is kept beside the environment, whose packages it has read.
      const cache = ['--cache-dir', join(executable, '../../mypy-clients')];
      const made = ['program.py', 'gateway_client', 'sign_on_client'];
      expect(await run('-m', 'mypy', ...cache, ...made)).toMatch(/^Success/);
      expect((await run('program.py')).trim().split('\n')).toEqual(peers.lines);
    },
    SLOW_MS,
  );
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { unzipSync } from 'fflate';
import { goModule } from '../../../src/sdk/packaging/go-module.js';
import { textOf } from '../../../src/sdk/packaging/sources.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { describeWith } from '../../support/toolchains.js';
import { smallSources } from './small-sources.js';

const newDirectory = temporaryDirectories();
const MODULE = 'integration.example.com/sdk';

describe('the Go module', () => {
  test('has every file below its path and version, tests left out', () => {
    const { path, zip } = goModule(smallSources(newDirectory()));
    expect(path).toBe(MODULE);
    expect(Object.keys(unzipSync(zip))).toEqual(
      [
        'LICENSE',
        'README.md',
        'eventtypes.go',
        'gateway/client.go',
        'go.mod',
        'models.go',
        'sdk.go',
        'signon/client.go',
      ].map((file) => `${MODULE}@v1.4.0/${file}`),
    );
  });

  test('is reported by four files, as the protocol of module proxies has them', () => {
    const { zip, proxy } = goModule(smallSources(newDirectory()));
    const [list, info, mod, archive] = proxy;
    expect(proxy.map(({ path }) => path)).toEqual(['list', 'v1.4.0.info', 'v1.4.0.mod', 'v1.4.0.zip']);
    expect([list, mod].map((file) => file && textOf(file))).toEqual([
      'v1.4.0\n',
      `module ${MODULE}\n\ngo 1.22\n`,
    ]);
    expect(JSON.parse(info ? textOf(info) : '')).toEqual({ Version: 'v1.4.0', Time: '2026-11-23T00:00:00Z' });
    expect(archive?.content).toBe(zip);
  });

  test('is not made without a go.mod', () => {
    const sources = smallSources(newDirectory());
    rmSync(join(sources.written, 'go/go.mod'));
    expect(() => goModule(sources)).toThrow('no go.mod');
  });
});

describeWith('go', 'the go command', (go) => {
  test('takes the module from the proxy files', () => {
    const folder = newDirectory();
    const served = join(folder, 'proxy', MODULE, '@v');
    mkdirSync(served, { recursive: true });
    for (const { path, content } of goModule(smallSources(folder)).proxy) {
      writeFileSync(join(served, path), content);
    }
    const project = join(folder, 'project');
    mkdirSync(project);
    writeFileSync(join(project, 'go.mod'), `module example.com/try\n\ngo 1.22\n`);
    const env = {
      PATH: process.env.PATH,
      GOPROXY: `file://${join(folder, 'proxy')}`,
      GONOSUMDB: '*',
      GOFLAGS: '-mod=mod -modcacherw',
      GOTOOLCHAIN: 'local',
      GOPATH: join(folder, 'gopath'),
      GOCACHE: join(folder, 'cache'),
    };
    const run = (...args: string[]) => execFileSync(go, args, { cwd: project, env, stdio: 'pipe' });
    run('get', `${MODULE}@latest`);
    expect(readFileSync(join(project, 'go.mod'), 'utf8')).toContain(`require ${MODULE} v1.4.0`);
    expect(run('list', `${MODULE}/...`).toString().trim().split('\n')).toEqual([
      MODULE,
      `${MODULE}/gateway`,
      `${MODULE}/signon`,
    ]);
  });
});

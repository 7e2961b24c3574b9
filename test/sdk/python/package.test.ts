import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { packageRoot, packageVersion } from '../../../src/config/package.js';
import { type RealGateway, startRealGateway } from '../../support/gateway/real-gateway.js';
import { run } from '../../support/kept-programs.js';
import { listenOnLoopback } from '../../support/loopback.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { describeWith } from '../../support/toolchains.js';
import { projectFolder, pythonWithSdk, readmePath } from './installed-package.js';

const SLOW_MS = 300_000;

describeWith('python', 'the package of Python, installed into an empty project', (python) => {
  const newFolder = temporaryDirectories();
  let executable: string;
  let gateway: RealGateway;

  beforeAll(async () => {
    [executable, gateway] = await Promise.all([pythonWithSdk(python), startRealGateway()]);
  }, SLOW_MS);

  afterAll(() => gateway.stop());

  const said = async (...args: string[]) => {
    const { PATH = '' } = process.env;
    const [key = ''] = Object.values(gateway.credentials.apiKeys);
    const env = { PATH, API_KEY: key, PYTHONDONTWRITEBYTECODE: '1' };
    return run(executable, args, { cwd: newFolder(), env, timeout: SLOW_MS });
  };

  test('says the release of the contract, and lacks nothing that it asks for', async () => {
    const program = 'import integration_service; print(integration_service.__version__)';
    expect((await said('-c', program)).trim()).toBe(packageVersion);
    expect(
      await said('-m', 'pip', 'show', '--disable-pip-version-check', 'integration-service-sdk'),
    ).toContain(`Version: ${packageVersion}\n`);
    expect(await said('-m', 'pip', 'check', '--disable-pip-version-check')).toMatch(/No broken requirements/);
  });

  test.each(['http://', ''])(
    'uses the proxy of the environment, with the user and password of its address, which begins with "%s"',
    async (scheme) => {
      const asked: (string | undefined)[][] = [];
      const proxy = createServer(({ url, headers }, response) => {
        asked.push([url, headers['proxy-authorization']]);
        response.setHeader('content-type', 'application/json').end('[]');
      });
      const port = await listenOnLoopback(proxy);
      try {
        const program = [
          'import os',
          'from integration_service import Gateway',
          `os.environ["http_proxy"] = "${scheme}ada:p%40ss@127.0.0.1:${port}"`,
          'print(list(Gateway("http://gateway.example.com", "key", allow_insecure_http=True).list_clients("iin_1")))',
        ];
        expect((await said('-c', program.join('\n'))).trim()).toBe('[]');
        const credentials = Buffer.from('ada:p@ss').toString('base64');
        expect(asked).toEqual([
          [expect.stringMatching(/^http:\/\/gateway\.example\.com\/v1\//), `Basic ${credentials}`],
        ]);
      } finally {
        proxy.close();
      }
    },
  );

  test('takes an event whose members it cannot read, and has none of them', async () => {
    const program = [
      'from integration_service import UnknownEvent',
      'event = UnknownEvent(id="evt_1", type="worker.promoted", body={"sequence": 5, "entity": "wrk_1"})',
      'print(event.sequence, event.occurred_at, event.entity, event.test)',
    ];
    expect((await said('-c', program.join('\n'))).trim()).toBe('0 None None False');
  });

  test('has a pause also before the two thousandth retry', async () => {
    const program = [
      'from integration_service import ConnectionError, Retry',
      'print(4 <= Retry().delay_before_seconds(ConnectionError(), 2000) <= 8)',
    ];
    expect((await said('-c', program.join('\n'))).trim()).toBe('True');
  });

  test('makes a copy that only its owner can read', async () => {
    const program = [
      'import os',
      'from integration_service import SqliteStore',
      'os.umask(0)',
      'SqliteStore("copy.sqlite")',
      'print(oct(os.stat("copy.sqlite").st_mode & 0o777))',
    ];
    expect((await said('-c', program.join('\n'))).trim()).toBe('0o600');
  });

  test('leaves the locks of a copy that is open to those who have them', async () => {
    const program = [
      'import sqlite3, subprocess, sys',
      'from integration_service import SqliteStore',
      'SqliteStore("locked.sqlite")',
      'first = sqlite3.connect("locked.sqlite", isolation_level=None)',
      'first.execute("begin exclusive")',
      'try:',
      '    SqliteStore("locked.sqlite")',
      'except sqlite3.OperationalError as error:',
      '    print(error)',
      "other = \"import sqlite3; sqlite3.connect('locked.sqlite', timeout=0).execute('begin immediate')\"",
      'print(subprocess.run([sys.executable, "-c", other], stderr=subprocess.PIPE, text=True).stderr.split()[-3:])',
    ];
    expect((await said('-c', program.join('\n'))).trim().split('\n')).toEqual([
      'database is locked',
      "['database', 'is', 'locked']",
    ]);
  });

  test('lets no thread wait without end, loses no stop, and shows no secret', async () => {
    expect(await said(join(projectFolder, 'own_behaviour.py'))).toBe('');
  });

  test(
    'is typed: mypy has nothing against the written layer or a program on top of it, strictly',
    async () => {
      const folder = newFolder();
      cpSync(join(projectFolder, 'typed.py'), join(folder, 'typed.py'));
      // The modules for frameworks are checked where these are installed, in ../receivers.
      const ignored = ['django', 'flask', 'starlette'].map(
        (name) => `[mypy-${name}.*]\nignore_missing_imports = True\n`,
      );
      const settings = join(folder, 'mypy.ini');
      writeFileSync(settings, `[mypy]\n${ignored.join('')}`);
      const strictly = [
        '-m',
        'mypy',
        '--strict',
        '--config-file',
        settings,
        '--python-version',
        '3.10',
        '--cache-dir',
        // mypy's cache is kept beside the environment, whose packages it has read.
        join(executable, '../../mypy-package'),
      ];
      const complaints = (error: { stdout: string }) => error.stdout;
      expect(await said(...strictly, join(folder, 'typed.py')).catch(complaints)).toMatch(/^Success/);
      expect(await said(...strictly, '-p', 'integration_service').catch(complaints)).toMatch(/^Success/);
    },
    SLOW_MS,
  );

  test('the README and the guide narrow readings in a way that pyright understands, as mypy does', () => {
    const guide = join(packageRoot, 'openapi/guides/read-and-stay-in-sync.md');
    for (const file of [readmePath, guide]) {
      const [code = ''] = /```python(?:(?!```).)*\bif_changed=.*?```/s.exec(readFileSync(file, 'utf8')) ?? [];
      expect(code).toContain('isinstance(reading, Changed)');
      expect(code).not.toContain('reading.changed');
    }
  });

  test('the first call of the README has no more than ten lines, and lists the workers', async () => {
    const [, code = ''] = /```python\n(.*?)```/s.exec(readFileSync(readmePath, 'utf8')) ?? [];
    expect(code.trim().split('\n').length).toBeLessThanOrEqual(10);
    expect(code).toContain('http://localhost:4001');
    const printed = await said('-c', code.replace('http://localhost:4001', gateway.url));
    expect(printed).toMatch(/^Tallowfern Bakeries \S+ \S+/m);
    expect(printed.trim().split('\n').length).toBeGreaterThan(3);
  });
});

import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/config/package.js';
import { type Samples, samplesIn, samplesOf } from '../../src/docs/reference/samples.js';
import { readSources } from '../../src/docs/sources.js';
import { GoProject } from '../sdk/go/installed-module.js';
import { pythonWithSdk } from '../sdk/python/installed-package.js';
import { Project } from '../sdk/typescript/installed-package.js';
import { temporaryDirectories } from '../support/temporary-directory.js';
import { describeWith } from '../support/toolchains.js';

const run = promisify(execFile);
const INSTALL_LIMIT_MS = 300_000;
const newDirectory = temporaryDirectories(afterAll);

const sources = readSources();
const { typescript, python: pythonSamples, go: goSamples } = sources.samples;

const filled = (code: string) =>
  code.replaceAll('{{gatewayUrl}}', 'http://localhost:1').replaceAll('{{signOnUrl}}', 'http://localhost:2');

/** Writes each sample into a file, and returns the names. */
function write(samples: Samples, fileOf: (id: string) => string): string[] {
  return Object.entries(samples).map(([id, code]) => {
    const file = fileOf(id);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, `${filled(code)}\n`);
    return file;
  });
}

/** What a compiler says, be it content or not. */
async function saidBy(executable: string, args: string[], cwd: string): Promise<string> {
  return run(executable, args, { cwd, timeout: INSTALL_LIMIT_MS }).then(
    ({ stdout }) => stdout,
    ({ stdout = '', stderr = '' }) => `${stdout}${stderr}`,
  );
}

describe('the samples of the references', () => {
  test('are the same operations in each language, and every operation of the gateway among them', () => {
    const ids = Object.keys(typescript).sort();
    expect(Object.keys(pythonSamples).sort()).toEqual(ids);
    expect(Object.keys(goSamples).sort()).toEqual(ids);
    const operations = sources.gateway.operations();
    expect(
      operations.map(({ operation }) => operation.operationId).filter((id) => !ids.includes(id)),
    ).toEqual([]);
  });

  const sectionOf = (title: string, fence: string, code: string) =>
    `## ${title}\n\n\`\`\`${fence}\n${code}\n\`\`\`\n\n`;

  test('have the lines of their frame that they need, with its indentation', () => {
    const frame = 'import "fmt" {{if fmt.}}\nimport "log" {{if log.}}\n{\n\t{{program}}\n}';
    const sections = [
      sectionOf('frame gateway', 'go', frame),
      sectionOf('one', 'go gateway', 'if {\n\n\tlog.Fatal()\n}'),
      sectionOf('two', 'go', 'log.Fatal()'),
    ];
    expect(samplesIn(sections.join(''))).toEqual({
      one: 'import "log"\n{\n\tif {\n\n\t\tlog.Fatal()\n\t}\n}',
      two: 'log.Fatal()',
    });
  });

  test.each([
    ['is missing', sectionOf('frame other', 'ts', '{{program}}')],
    ['has no place for them', sectionOf('frame gateway', 'ts', 'start();')],
  ])('are refused in a frame that %s', (_, frame) => {
    expect(() => samplesIn(frame + sectionOf('getUser', 'ts gateway', 'run();'))).toThrow(
      'The sample getUser needs a section "frame gateway" with a line {{program}}.',
    );
  });

  test('of the command line name the address, and the header or the form that the operation wants', () => {
    const { gateway, signOn, samples } = sources;
    const curlOf = (name: 'gateway' | 'sign-on', operationId: string) => {
      const contract = name === 'gateway' ? gateway : signOn;
      const url = name === 'gateway' ? '{{gatewayUrl}}' : '{{signOnUrl}}';
      const placed = contract.operations().find(({ operation }) => operation.operationId === operationId);
      const codes = placed
        ? samplesOf({ name, title: name, path: '', url, contract, samples } as never, placed)
        : [];
      return codes.find(({ label }) => label === 'curl')?.code;
    };
    expect(curlOf('gateway', 'listUsers')).toBe(
      'curl -H "x-api-key: $API_KEY" \\\n  "{{gatewayUrl}}/v1/instance-integrations/{{instanceIntegrationId=iin_HnuQOy4YQg1OdOSCDbMAkY}}/clients/{{clientId=cli_4Fqnh5226raKAAEIfY2jwW}}/users?limit=100"',
    );
    expect(curlOf('gateway', 'getChangesDigest')).toContain(
      '/changes/digest?clientId={{clientId=cli_4Fqnh5226raKAAEIfY2jwW}}"',
    );
    expect(curlOf('sign-on', 'userinfo')).toBe(
      'curl -H "Authorization: Bearer $ACCESS_TOKEN" \\\n  "{{signOnUrl}}/auth/userinfo"',
    );
    expect(curlOf('sign-on', 'revoke')).toBe(
      'curl -u "$CLIENT_ID:$CLIENT_SECRET" \\\n  --data-urlencode "token=$REFRESH_TOKEN" \\\n  "{{signOnUrl}}/auth/revoke"',
    );
    expect(curlOf('sign-on', 'token')).toBe(
      [
        'curl -u "$CLIENT_ID:$CLIENT_SECRET"',
        '--data-urlencode "grant_type=authorization_code"',
        '--data-urlencode "redirect_uri=$REDIRECT_URI"',
        '--data-urlencode "code=$CODE"',
        '--data-urlencode "code_verifier=$CODE_VERIFIER"',
        '"{{signOnUrl}}/auth/token"\n\ncurl -u "$CLIENT_ID:$CLIENT_SECRET"',
        '--data-urlencode "grant_type=refresh_token"',
        '--data-urlencode "refresh_token=$REFRESH_TOKEN"',
        '"{{signOnUrl}}/auth/token"',
      ].join(' \\\n  '),
    );
    expect(curlOf('sign-on', 'authorize')).toBeUndefined();
  });

  test(
    'in TypeScript have the compiler’s consent',
    async () => {
      const { folder } = await Project.install();
      const files = write(typescript, (id) => join(folder, `${id}.ts`));
      const tsc = join(packageRoot, 'node_modules/typescript/bin/tsc');
      const typeRoots = join(packageRoot, 'node_modules/@types');
      const settings = `--noEmit --strict --target es2022 --module nodenext --types node --typeRoots ${typeRoots}`;
      expect(await saidBy(process.execPath, [tsc, ...settings.split(' '), ...files], folder)).toBe('');
    },
    INSTALL_LIMIT_MS,
  );
});

describeWith('python', 'the samples of the references in Python', (python) => {
  test(
    'have the consent of mypy at its strictest',
    async () => {
      const executable = await pythonWithSdk(python);
      const folder = newDirectory();
      const files = write(pythonSamples, (id) => join(folder, `sample_${id}.py`));
      // Kept beside the environment: without it, mypy reads the SDK and its dependencies at each run.
      const cache = ['--cache-dir', join(executable, '../../mypy-samples')];
      const said = await saidBy(executable, ['-m', 'mypy', '--strict', ...cache, ...files], folder);
      expect(said).toMatch(/^Success: no issues found in \d+ source files\n$/);
    },
    INSTALL_LIMIT_MS,
  );
});

describeWith('go', 'the samples of the references in Go', (go) => {
  test(
    'have the consent of go vet, and the shape that gofmt gives',
    async () => {
      const project = await GoProject.install(go);
      const { folder } = project;
      // Ranging over a function began with it.
      await project.run('mod', 'edit', '-go=1.23');
      const files = write(goSamples, (id) => join(folder, id, 'main.go'));
      expect(await project.run('vet', './...')).toBe('');
      const gofmt = join(go, '..', 'gofmt');
      expect(await saidBy(gofmt, ['-l', ...files], folder)).toBe('');
    },
    INSTALL_LIMIT_MS,
  );
});

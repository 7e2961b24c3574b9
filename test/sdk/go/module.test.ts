import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { generatedDir } from '../../../src/codegen/layout.js';
import { packageVersion } from '../../../src/config/package.js';
import { type RealGateway, startRealGateway } from '../../support/gateway/real-gateway.js';
import { run } from '../../support/kept-programs.js';
import { describeWith } from '../../support/toolchains.js';
import { GoProject, projectFolder, writtenFolder } from './installed-module.js';

const SLOW_MS = 300_000;
const MODULE = 'integration.example.com/sdk';

describeWith('go', 'the module of Go, got by an empty project', (go) => {
  let project: GoProject;
  let gateway: RealGateway;

  beforeAll(async () => {
    [project, gateway] = await Promise.all([GoProject.install(go), startRealGateway()]);
  }, SLOW_MS);

  afterAll(() => gateway.stop());

  test(
    'is the release of the contract, asks for no other module, and vet has nothing against any of it',
    async () => {
      await project.build();
      expect((await project.run('list', '-m', 'all')).trim().split('\n')).toEqual([
        'app.example.com/app',
        `${MODULE} v${packageVersion}`,
      ]);
      expect(await project.run('vet', '.', `${MODULE}/...`)).toBe('');
    },
    SLOW_MS,
  );

  test('is written as gofmt would', async () => {
    const gofmt = join((await project.run('env', 'GOROOT')).trim(), 'bin/gofmt');
    const generated = ['asyncapi/events.go', 'sdk/go/reads'].map((path) => join(generatedDir, path));
    expect(await run(gofmt, ['-l', writtenFolder, projectFolder, ...generated])).toBe('');
  });

  test('is documented with its examples as code', async () => {
    expect(await project.run('doc', `${MODULE}.Gateway.Follow`)).toMatch(
      /^ {5,}var worker sdk\.WorkerV2\n {5,}err := /m,
    );
    expect(await project.run('doc', `${MODULE}.Sequence`)).toMatch(/^ {5,}for worker, err := range/m);
  });

  test(
    'the first call of the README has no more than ten lines, and lists the workers',
    async () => {
      const readme = readFileSync(join(writtenFolder, 'README.md'), 'utf8');
      const [, code = ''] = /```go\n(.*?)```/s.exec(readme) ?? [];
      expect(code.trim().split('\n').length).toBeLessThanOrEqual(10);
      expect(code).toContain('http://localhost:4001');
      await project.run('mod', 'edit', '-go=1.23');
      const program = await project.build(
        'first-call',
        programOf(code.replace('http://localhost:4001', gateway.url)),
      );
      const [key = ''] = Object.values(gateway.credentials.apiKeys);
      const output = await run(program, [], { env: { API_KEY: key } });
      expect(output).toMatch(/^Tallowfern Bakeries \S+ \S+/m);
      expect(output.trim().split('\n').length).toBeGreaterThan(3);
    },
    SLOW_MS,
  );
});

function programOf(code: string): string {
  return `package main

import (
	"context"
	"fmt"
	"os"

	"${MODULE}"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctx := context.Background()
${code}}
`;
}

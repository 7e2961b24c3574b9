import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { asTable, httpOperations, rpcMethods } from './surface.js';

const REFRESH = 'UPDATE_SURFACE';

/** Compares with the text that reviewers have seen, or writes it when asked to. */
function expectSurface(file: string, text: string): void {
  const path = join(import.meta.dirname, 'snapshots', file);
  if (process.env[REFRESH] === '1') {
    writeFileSync(path, `${text}\n`);
  }
  const seen = existsSync(path) ? readFileSync(path, 'utf8').trimEnd() : '';
  if (seen !== text) {
    const lines = (one: string, other: string) =>
      one.split('\n').filter((line) => !other.split('\n').includes(line));
    const gone = lines(seen, text).map((line) => `- ${line}`);
    const added = lines(text, seen).map((line) => `+ ${line}`);
    throw new Error(
      `The surface is not what snapshots/${file} shows:\n${[...gone, ...added].join('\n')}\n` +
        `If the change is meant, run the tests once with ${REFRESH}=1 and let a reviewer see the difference.`,
    );
  }
}

const done = (implemented: boolean) => (implemented ? 'implemented' : 'not implemented');

describe('the surface that reviewers have seen is the surface there is', () => {
  test.each(['gateway', 'sign-on'] as const)('HTTP operations of %s', (api) => {
    const rows = httpOperations(api).map(({ operationId, method, path, security, implemented }) => [
      method,
      path,
      operationId,
      security,
      done(implemented),
    ]);
    expectSurface(`http-${api}.txt`, asTable(rows));
  });

  test('gRPC methods with the rights that may call them, which reads are recorded and what may be repeated', () => {
    const services = [...new Set(rpcMethods().map(({ service }) => service))];
    const blocks = services.map((service) => {
      const methods = rpcMethods().filter((method) => method.service === service);
      const rows = methods.map(({ name, kind, callers, recorded, repeatable, implemented }) => [
        `  ${name}`,
        kind,
        callers.join(', '),
        done(implemented),
        recorded ? 'personal data, reads are recorded' : repeatable ? 'may be repeated' : '',
      ]);
      return `${service}\n${asTable(rows)}`;
    });
    expectSurface('grpc.txt', blocks.join('\n\n'));
  });

  test('what is not implemented yet, which is to shrink to nothing', () => {
    const http = (['gateway', 'sign-on'] as const).flatMap((api) =>
      httpOperations(api).flatMap(({ operationId, implemented }) =>
        implemented ? [] : [`${api} ${operationId}`],
      ),
    );
    expectSurface('not-implemented.txt', http.join('\n') || 'nothing');
  });
});

test('every operation and every method is named once', () => {
  const ids = (['gateway', 'sign-on'] as const).flatMap((api) =>
    httpOperations(api).map(({ operationId }) => operationId),
  );
  const methods = rpcMethods().map(({ service, name }) => `${service}/${name}`);
  for (const names of [ids, methods]) {
    expect(names.filter((name, index) => name === '' || names.indexOf(name) !== index)).toEqual([]);
    expect(names.length).toBeGreaterThan(10);
  }
});

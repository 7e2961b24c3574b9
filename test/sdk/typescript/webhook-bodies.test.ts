import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { secret } from '../drivers/signed-requests.js';
import { Project } from './installed-package.js';

/** Prints what the answer was, and by how many bytes the memory of the process grew. */
const program = (sending: string) => `
import { EventEmitter } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { receiveWebhooks } from '@integration-service/sdk/express';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const used = () => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const request = Object.assign(new EventEmitter(), { headers: {} });
const response = { setHeader: () => undefined, end: () => undefined };
const answered = receiveWebhooks(${JSON.stringify(secret)}, () => undefined)(request, response);
const send = (count, bytes) => {
  for (let sent = 0; sent < count; sent += 1) request.emit('data', new Uint8Array(bytes));
};
const before = used();
${sending}
await answered;
process.stdout.write(JSON.stringify({ status: response.statusCode, grown }));
`;

let project: Project;

beforeAll(async () => {
  project = await Project.install();
});

afterAll(() => rmSync(project.folder, { recursive: true, force: true }));

async function run(name: string, sending: string): Promise<{ status: number; grown: number }> {
  return JSON.parse(await project.run(project.javascript(name, program(sending))));
}

test('a body in chunks of one byte takes no more memory than one of few', async () => {
  const { status, grown } = await run(
    'single-bytes',
    `send(1_000_000, 1);
const grown = used() - before;
request.emit('end');`,
  );
  expect(status).toBe(400);
  // As separate chunks, they would take more than a hundred megabytes.
  expect(grown).toBeLessThan(4 * 2 ** 20);
});

test('what comes after a body was refused is not kept, nor is room made for it', async () => {
  const { status, grown } = await run(
    'refused',
    `send(100, 2 ** 20);
const { arrayBuffers } = process.memoryUsage();
request.emit('end');
const grown = process.memoryUsage().arrayBuffers - arrayBuffers;`,
  );
  expect(status).toBe(413);
  expect(grown).toBeLessThan(2 ** 20);
});

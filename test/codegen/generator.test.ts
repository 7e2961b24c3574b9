import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { placeFile } from '../../src/codegen/generator.js';
import { listenOnLoopback } from '../support/loopback.js';
import { temporaryDirectories } from '../support/temporary-directory.js';

const CONTENT = 'the generator';
const SHA256 = createHash('sha256').update(CONTENT).digest('hex');
const newDirectory = temporaryDirectories();
let served = CONTENT;
let requests = 0;
const server = createServer((_, response) => {
  requests += 1;
  response.writeHead(served === '' ? 404 : 200).end(served);
});
let url: string;
let file: string;

beforeAll(async () => {
  url = `http://127.0.0.1:${await listenOnLoopback(server)}/generator.jar`;
});
beforeEach(() => {
  file = join(newDirectory(), 'versions/1.jar');
  served = CONTENT;
  requests = 0;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

test('is downloaded once', async () => {
  await placeFile(file, url, SHA256);
  await placeFile(file, url, SHA256);
  expect([readFileSync(file, 'utf8'), requests]).toEqual([CONTENT, 1]);
});

test('is not placed with other content, or where there is none', async () => {
  served = 'another';
  await expect(placeFile(file, url, SHA256)).rejects.toThrow(`, not ${SHA256}.`);
  served = '';
  await expect(placeFile(file, url, SHA256)).rejects.toThrow('answers 404');
  expect(existsSync(file)).toBe(false);
});

test('replaces a file with other content, such as half of it', async () => {
  await placeFile(file, url, SHA256);
  writeFileSync(file, CONTENT.slice(0, 5));
  await placeFile(file, url, SHA256);
  expect(readFileSync(file, 'utf8')).toBe(CONTENT);
  expect(readdirSync(join(file, '..'))).toEqual(['1.jar']);
});

import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { RequestBody } from '../../../src/edge/http/exchange.js';

/** A request with a body that the test writes. */
function aRequest() {
  const headers = { 'transfer-encoding': 'chunked' };
  const request = Object.assign(new PassThrough(), { headers, complete: false });
  return { request, body: new RequestBody(request as unknown as IncomingMessage, response, 20) };
}

const response = new EventEmitter() as unknown as ServerResponse;

test('a body that does not come in time is refused, and spoils its connection', async () => {
  const { request, body } = aRequest();
  request.write('half');
  await expect(body.read()).rejects.toMatchObject({
    status: 408,
    message: 'The body did not arrive in time.',
  });
  expect(body.spoilsConnection).toBe(true);
});

test('one that came in time does not', async () => {
  const { request, body } = aRequest();
  request.end('whole');
  expect(String(await body.read())).toBe('whole');
  expect(body.spoilsConnection).toBe(false);
});

test('one from a disconnected client is not awaited', async () => {
  const { request, body } = aRequest();
  request.destroy();
  await expect(body.read()).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
});

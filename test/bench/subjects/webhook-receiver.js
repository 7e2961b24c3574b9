// Subscribers, all in one process: takes what is posted and answers by the path. In JavaScript, because it is
// a process of its own. /take/N        204 /first-fails/N 503 to the first post of each id, then 204 /hang/N
// never
import { createServer } from 'node:http';

const seen = new Set();
const OCCURRED_AT = '"occurredAt":"';
const ISO_LENGTH = 24;
const FIRST_NAME = '"firstName":"';

let round = newRound();

function newRound(expected = Number.POSITIVE_INFINITY) {
  return { expected, taken: 0, delaysMs: [], receipts: [] };
}

const server = createServer((request, response) => {
  const { url } = request;
  if (url.startsWith('/hang/')) {
    request.resume();
    return;
  }
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const isRefused = url.startsWith('/first-fails/') && isNew(`${url}#${request.headers['webhook-id']}`);
    response.statusCode = isRefused ? 503 : 204;
    response.end();
    if (!isRefused) {
      take(parts);
    }
  });
});

function isNew(key) {
  return seen.size < seen.add(key).size;
}

/** The time since the change was made, which is no later than its commit. */
function take(parts) {
  const now = performance.timeOrigin + performance.now();
  round.taken += 1;
  if (round.isTimed) {
    const body = Buffer.concat(parts).toString();
    const at = body.indexOf(OCCURRED_AT) + OCCURRED_AT.length;
    round.delaysMs.push(now - Date.parse(body.slice(at, at + ISO_LENGTH)));
    const nameAt = body.indexOf(FIRST_NAME) + FIRST_NAME.length;
    round.receipts.push({ name: body.slice(nameAt, body.indexOf('"', nameAt)), at: now });
  }
  if (round.taken === round.expected) {
    const { taken, delaysMs, receipts } = round;
    process.send({ taken, delaysMs, receipts });
  }
}

process.on('message', ({ expected, isTimed }) => {
  round = { ...newRound(expected), isTimed };
  seen.clear();
  process.send('ready');
});
process.on('disconnect', () => process.exit());

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));

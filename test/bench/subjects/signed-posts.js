// The floor of webhooks: posts one signed body over and over, and thinks of nothing.
import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { Pool } from 'undici';

const CONNECTIONS = 32;
// Not bytes, with which an HMAC takes four times as long on Node 24.
const key = createSecretKey(randomBytes(32));

process.on('message', async ({ origin, path, count, body }) => {
  const pool = new Pool(origin, { connections: CONNECTIONS });
  let left = count;
  const postAll = async () => {
    while (left > 0) {
      left -= 1;
      await post(pool, path, body);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, postAll));
  await pool.close();
  process.send('done');
});
process.on('disconnect', () => process.exit());
process.send('ready');

async function post(pool, path, body) {
  const id = `evt_${randomBytes(11).toString('hex')}`;
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'IntegrationService-Webhooks/1.4.0',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  const answer = await pool.request({ path, method: 'POST', headers, body });
  await answer.body.dump();
}

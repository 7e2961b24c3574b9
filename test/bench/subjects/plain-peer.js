/**
 * The peer of the gateway: key look-up, query and JSON in one process, over a database with our rows, schema
 * and settings. Arguments: database file, port.
 */
import { createHash } from 'node:crypto';
import fastify from 'fastify';

// As src/store/better-sqlite3.ts: the version that this Node can run.
const { default: Database } = await import(
  process.versions.napi >= 10 ? 'better-sqlite3-napi' : 'better-sqlite3'
);
const [file, port] = process.argv.slice(2);

const database = new Database(file);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.pragma('cache_size = -16000');

const findKey = database.prepare(`
  SELECT integration_id AS integrationId, expires_at AS expiresAt, revoked_at AS revokedAt
  FROM api_keys WHERE hash = ?`);

const listConnections = database.prepare(`
  SELECT connection.id, instances.id AS instanceId, instances.name AS instanceName,
    connection.created_at AS createdAt, connection.updated_at AS updatedAt
  FROM instance_integrations AS connection JOIN instances ON instances.id = connection.instance_id
  WHERE connection.integration_id = ? ORDER BY connection.created_at, connection.id`);

const listWorkers = database.prepare(`
  SELECT id, first_name AS firstName, last_name AS lastName, full_name AS fullName, email, job_titles AS jobTitles, phone,
    address1, address2, city, iso_country_code AS isoCountryCode, postal_code AS postalCode, zone_code AS zoneCode
  FROM workers WHERE client_id = ? AND offboarded_at IS NULL ORDER BY created_at, id`);

const server = fastify();

server.get('/v1/instance-integrations', (request, reply) => {
  const key = acceptedKey(request, reply);
  if (key) {
    sendList(reply, listConnections.all(key.integrationId).map(toConnection));
  }
});

server.get('/v1/instance-integrations/:connectionId/clients/:clientId/workers', (request, reply) => {
  if (acceptedKey(request, reply)) {
    sendList(reply, listWorkers.all(request.params.clientId).map(toWorker));
  }
});

function acceptedKey(request, reply) {
  const hash = createHash('sha256').update(String(request.headers['x-api-key'])).digest('base64url');
  const key = findKey.get(hash);
  if (!key || key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= Date.now())) {
    reply.code(401).send({ message: 'This API key is not known.' });
    return undefined;
  }
  return key;
}

function sendList(reply, list) {
  reply.header('content-type', 'application/json').send(JSON.stringify(list));
}

function toConnection({ id, instanceId, instanceName, createdAt, updatedAt }) {
  return {
    id,
    applicationInstance: { id: instanceId, instanceName },
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

function toWorker(row) {
  const { id, firstName, lastName, fullName, email, jobTitles, phone } = row;
  const { address1, address2, city, isoCountryCode, postalCode, zoneCode } = row;
  const location = { address1, address2, city, isoCountryCode, postalCode, zoneCode };
  return { id, firstName, lastName, fullName, email, jobTitles: JSON.parse(jobTitles), phone, location };
}

await server.listen({ port: Number(port), host: '127.0.0.1' });

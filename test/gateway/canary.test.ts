import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newApiKey } from '../../src/identifiers/api-key.js';
import { hashSecret } from '../../src/identifiers/random-secrets.js';
import { plantApiKey, plantServiceToken } from '../store/rows.js';
import { eventually } from '../support/eventually.js';
import { gatewayOperations, pathOf } from '../support/gateway/operations.js';
import { type RealGateway, startRealGateway } from '../support/gateway/real-gateway.js';
import { type Exchange, exchange } from '../support/http-exchange.js';
import { foreignIds, owner, ownIds, unconfigured, unknownIds } from './demo-paths.js';

const CANARY = 'canary7Gq';

let gateway: RealGateway;
let keys: string[];

beforeAll(async () => {
  gateway = await startRealGateway();
  const own = gateway.credentials.apiKeys[owner.id] ?? '';
  const [revoked, expired] = [newApiKey('demo'), newApiKey('demo')];
  keys = [own, revoked, expired, newApiKey('demo')];
  const times = [{ revoked_at: Date.now() - 1 }, { expires_at: Date.now() - 1 }];
  for (const [index, secret] of [revoked, expired].entries()) {
    await plantApiKey(gateway.database, secret, { integration_id: owner.id, ...times[index] });
  }
  await plantServiceToken(gateway.database, CANARY);
  await spoilSecrets();
});

afterAll(() => gateway.stop());

/** Puts the canary into all stored private data, besides the secrets. */
async function spoilSecrets(): Promise<void> {
  await gateway.database.write(async (writer) => {
    await writer
      .updateTable('api_keys')
      .set({ label: `${CANARY}-label`, hint: `${CANARY}-hint` })
      .execute();
    await writer
      .updateTable('service_tokens')
      .set({ label: `${CANARY}-label` })
      .execute();
    await writer
      .updateTable('integrations')
      .set({ name: `${CANARY}-integration` })
      .execute();
    await writer
      .updateTable('roles')
      .set({ permissions: `["${CANARY}"]` })
      .execute();
    await writer
      .updateTable('units')
      .set({ unit_code: `${CANARY}-code` })
      .execute();
    const accounts = await writer.selectFrom('accounts').select(['id']).execute();
    for (const { id } of accounts) {
      await writer
        .updateTable('accounts')
        .set({ worker_profile_id: `${CANARY}-${id}` })
        .where('id', '=', id)
        .execute();
    }
  });
}

/** Every way in which one of the secrets could be written. */
function secretTexts(): string[] {
  const secrets = [...keys, ...Object.values(gateway.credentials.serviceTokens), CANARY];
  const hashes = secrets.flatMap((secret) => {
    const hash = hashSecret(secret);
    return [hash.toString('base64url'), hash.toString('base64'), hash.toString('hex'), [...hash].join()];
  });
  return [CANARY, 'token-of-the-service', ...secrets.map((secret) => secret.slice(14, 44)), ...hashes].filter(
    (text) => text !== '',
  );
}

async function askEverything(): Promise<Exchange[]> {
  const answers: Exchange[] = [];
  for (const operation of gatewayOperations) {
    const paths = [ownIds, foreignIds, unknownIds, { ...ownIds, instanceIntegrationId: unconfigured }].map(
      (ids) => pathOf(operation, ids),
    );
    paths.push(
      `${paths[0]}?limit=2`,
      `${paths[0]}?limit=no`,
      `${paths[0]}?cursor=none`,
      `${paths[0]}?api_key=${keys[0]}`,
    );
    for (const path of paths) {
      for (const key of keys) {
        for (const method of ['GET', 'HEAD', 'POST']) {
          answers.push(await exchange(gateway.port, path, { method, headers: { 'x-api-key': key } }));
        }
      }
    }
  }
  return answers;
}

function leaksIn(text: string): string[] {
  return secretTexts().filter((secret) => text.includes(secret));
}

describe('a secret that is stored', () => {
  test('is in no answer and no log line, whatever is asked and however it ends', async () => {
    const answers = await askEverything();
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].sort()).toEqual([200, 400, 401, 404, 405]);
    for (const { target, status, headers, body } of answers) {
      expect([target, status, leaksIn(JSON.stringify(headers) + body)]).toEqual([target, status, []]);
    }
    const requests = () => gateway.log.lines().filter(({ msg }) => msg === 'request').length;
    // A streamed answer may be read before its line is written.
    await eventually('the line of every request', () => requests() >= answers.length);
    expect(gateway.log.lines().length).toBeGreaterThan(answers.length);
    expect(leaksIn(gateway.log.text())).toEqual([]);
  });

  test('is looked for in a way that finds it', async () => {
    const stored = await gateway.database.reader.selectFrom('api_keys').selectAll().execute();
    expect(leaksIn(JSON.stringify(stored)).length).toBeGreaterThan(3);
    expect(leaksIn(`x ${keys[0]} y`)).toHaveLength(1);
  });

  test('is in none either when the database fails', async () => {
    const failing = await startRealGateway();
    const key = failing.credentials.apiKeys[owner.id] ?? '';
    keys.push(key);
    try {
      await failing.store.close();
      const answer = await exchange(failing.port, pathOf(gatewayOperations[1] as never, ownIds), {
        headers: { 'x-api-key': key },
      });
      expect(answer.status).toBe(500);
      await failing.log.nextLine(({ msg }) => msg === 'request');
      expect(failing.log.lines().some(({ level }) => level === 'error')).toBe(true);
      expect(leaksIn(answer.body + failing.log.text())).toEqual([]);
    } finally {
      await failing.stop();
    }
  });
});

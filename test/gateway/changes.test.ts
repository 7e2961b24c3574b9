import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { InstanceIntegrationId } from '../../generated/ids.js';
import type { components } from '../../generated/openapi/gateway.js';
import type { ReaderPlace } from '../../src/domain/directory/changes.js';
import { updateLocation } from '../../src/domain/platform/organization/locations.js';
import { offboardWorker } from '../../src/domain/platform/people/worker-changes.js';
import { changeCursors } from '../../src/keys/change-cursors.js';
import { cursors } from '../support/changes/cursors.js';
import { AnswerJudge } from '../support/contract/answer-judge.js';
import { type RealGateway, startRealGateway } from '../support/gateway/real-gateway.js';
import { exchange } from '../support/http-exchange.js';
import { owner, ownIds } from './demo-paths.js';

type Change = components['schemas']['Change'];
type Digest = components['schemas']['ChangesDigest'];

const MODULUS = 2n ** 52n;
const judge = new AnswerJudge('gateway');
const base = `/v1/instance-integrations/${ownIds.instanceIntegrationId}`;
const ofClient = `instance-integrations/${ownIds.instanceIntegrationId}/clients/${ownIds.clientId}`;

let gateway: RealGateway;

beforeAll(async () => {
  gateway = await startRealGateway();
});

afterAll(() => gateway.stop());

async function read(path: string, operationId?: string) {
  const headers = { 'x-api-key': gateway.credentials.apiKeys[owner.id] ?? '' };
  const answer = await exchange(gateway.port, path, { headers });
  expect(answer.status).toBe(200);
  if (operationId !== undefined) {
    expect(judge.faultsOf(operationId, answer)).toEqual([]);
  }
  return answer;
}

/** Follows the links of pages, and returns all items. */
async function follow(query = 'limit=100'): Promise<Change[]> {
  const items: Change[] = [];
  for (let path: string | undefined = `${base}/changes?${query}`; path !== undefined; ) {
    const { body, headers } = await read(path, 'listChanges');
    items.push(...(JSON.parse(body) as Change[]));
    const next = /<([^>]+)>; rel="next"/.exec(String(headers.link ?? ''))?.[1];
    path = next && new URL(next).pathname + new URL(next).search;
  }
  return items;
}

const valueAt = async (path: string) => JSON.parse((await read(path)).body);
const ofType = (items: readonly Change[], type: string) =>
  items.filter(({ entity, clientId }) => entity.type === type && clientId === ownIds.clientId);
const byId = (rows: readonly unknown[]) =>
  Object.fromEntries(
    rows.map((row) => {
      const { id, userId } = row as { id?: string; userId?: string };
      return [id ?? userId, row];
    }),
  );

test('the first load has what the lists have, and its sums are the digests', async () => {
  const items = await follow();
  const resources = (type: string) => byId(ofType(items, type).map(({ resource }) => resource));
  const structure = await valueAt(`/v1/${ofClient}/organization-structure`);
  expect(resources('client')).toEqual({ [ownIds.clientId]: await valueAt(`/v1/${ofClient}`) });
  expect(resources('worker')).toEqual(byId(await valueAt(`/v2/${ofClient}/workers`)));
  expect(resources('user')).toEqual(byId(await valueAt(`/v1/${ofClient}/users`)));
  expect(resources('unitType')).toEqual(byId(structure.unitsTypes));
  expect(resources('unit')).toEqual(byId(structure.units));
  expect(resources('location')).toEqual(byId(structure.locations));
  expect(ofType(items, 'jobTitles').map(({ resource }) => resource)).toEqual([
    await valueAt(`/v1/${ofClient}/job-titles`),
  ]);
  const { body } = await read(`${base}/changes/digest?clientId=${ownIds.clientId}`, 'getChangesDigest');
  for (const { type, count, digest } of (JSON.parse(body) as Digest).entities) {
    const own = ofType(items, type);
    const sum = own.reduce((total, { version }) => total + BigInt(version), 0n);
    expect([type, own.length, Number(sum % MODULUS)]).toEqual([type, count, digest]);
  }
});

test('a waiting request is answered when a write commits, with every entity that the write changed', async () => {
  const items = await follow('limit=1000');
  const after = items.at(-1)?.cursor;
  const structure = await valueAt(`/v1/${ofClient}/organization-structure`);
  const { id: locationId } = structure.locations[0];
  const waiting = read(`${base}/changes?after=${after}&wait=25`, 'listChanges');
  await gateway.store.platform.run((changes) => updateLocation(changes, { locationId, name: 'Pier 9' }));
  const told = JSON.parse((await waiting).body) as Change[];
  expect(told.find(({ entity }) => entity.type === 'location')?.resource).toEqual({
    id: locationId,
    name: 'Pier 9',
  });
  const workers = (await valueAt(`/v2/${ofClient}/workers`)).filter(
    ({ organizationLocation }: { organizationLocation: { id: string } | null }) =>
      organizationLocation?.id === locationId,
  );
  expect(byId(ofType(told, 'worker').map(({ resource }) => resource))).toEqual(byId(workers));
});

test('the answer to a changed or invented cursor says only that it has expired or is invalid', async () => {
  const [item] = await follow();
  const given = item?.cursor ?? '';
  const reader = ownIds.instanceIntegrationId as InstanceIntegrationId;
  const place = cursors.read(given, reader) as ReaderPlace;
  const { after } = place;
  const answerTo = async (cursor: string) => {
    const answer = await exchange(gateway.port, `${base}/changes?after=${cursor}`, {
      headers: { 'x-api-key': gateway.credentials.apiKeys[owner.id] ?? '' },
    });
    expect(judge.faultsOf('listChanges', answer)).toEqual([]);
    const { requestId: _, ...problem } = JSON.parse(answer.body);
    return { status: answer.status, problem };
  };
  const expired = await answerTo(cursors.write({ ...place, life: '000000000000' }, reader));
  expect(expired).toMatchObject({ status: 410, problem: { code: 'cursor_expired' } });
  const [, , seal = ''] = given.split('.');
  for (const cursor of [
    cursors.write({ ...place, after: { ...after, position: Number.MAX_SAFE_INTEGER } }, reader),
    changeCursors(Buffer.alloc(32, 8)).write(place, reader),
    given.replace(seal, 'A'.repeat(seal.length)),
    given.replace(seal, `${seal.startsWith('A') ? 'B' : 'A'}${seal.slice(1)}`),
    given.replace(after.id, 'wrk_0000000000000000000000'),
    `x${given}`,
  ]) {
    expect(await answerTo(cursor)).toEqual(expired);
  }
  const none = await answerTo('none');
  expect(none).toMatchObject({ status: 400, problem: { code: 'invalid_request' } });
  const other = 'iin_0000000000000000000000' as InstanceIntegrationId;
  for (const cursor of [cursors.write(place, other), `.${given}`, given.slice(0, -1)]) {
    expect(await answerTo(cursor)).toEqual(none);
  }
});

test('an offboarded worker is reported as removed, and the digest no longer counts it', async () => {
  const items = await follow('limit=1000');
  const after = items.at(-1)?.cursor;
  const countOf = async () => {
    const digest: Digest = await valueAt(`${base}/changes/digest?clientId=${ownIds.clientId}`);
    return digest.entities.find(({ type }) => type === 'worker')?.count ?? 0;
  };
  const before = await countOf();
  const [worker] = ofType(items, 'worker');
  const workerId = worker?.entity.id ?? '';
  await gateway.store.platform.run((changes) => offboardWorker(changes, { workerId }));
  const told = await follow(`after=${after}`);
  expect(told).toMatchObject([
    { entity: { type: 'worker', id: workerId }, removed: true, resource: null, clientId: ownIds.clientId },
  ]);
  await expect(countOf()).resolves.toBe(before - 1);
});

test('nothing new answers an empty array, and 304 to its tag', async () => {
  const after = (await follow('limit=1000')).at(-1)?.cursor;
  const path = `${base}/changes?after=${after}`;
  const { body, headers } = await read(path, 'listChanges');
  expect([body, headers.link]).toEqual(['[]', undefined]);
  const again = await exchange(gateway.port, path, {
    headers: { 'x-api-key': gateway.credentials.apiKeys[owner.id] ?? '', 'if-none-match': headers.etag },
  });
  expect(again.status).toBe(304);
});

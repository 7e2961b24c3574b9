import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Driven } from './line-driver.js';
import {
  type Answer,
  json,
  problem,
  type ScriptedServer,
  scriptedServers,
  silence,
} from './scripted-server.js';
import { user } from './user.js';
import { worker } from './worker.js';

const { location } = worker;

/** The longest duration of Go, and too long for a timer of Node or Python. */
export const FOREVER_SECONDS = 9_223_372_036;

/** As the gateway writes one. */
export const changeOf = (type: string, id: string, resource: unknown, more: object = {}) => ({
  cursor: `life.${type}.${id}`,
  entity: { type, id },
  clientId: 'cli_1',
  removed: false,
  changedAt: '2026-06-11T16:02:19.350Z',
  version: 4_817_302_945_538_021,
  resource,
  ...more,
});

/** The sequence of changes, over a gateway with changes made by the test. */
export function describeChanges(driver: Driven): void {
  const newServer = scriptedServers();
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await newServer();
  });
  const listChanges = (parameters: object = {}, options: object = {}) =>
    driver.sdk.gateway(
      { baseUrl: server.url, retry: { baseDelaySeconds: 0.001 }, ...options },
      'listChanges',
      ['iin_1'],
      { parameters },
    );

  describe('the sequence of changes', () => {
    test.each<[string, unknown]>([
      ['client', { id: 'cli_1', name: 'Tallowfern', location }],
      ['worker', worker],
      ['user', user],
      ['unitType', { id: 'out_1', name: 'Department' }],
      ['unit', { id: 'oru_1', name: 'Ovens', description: null, unitTypeId: 'out_1', parentUnitId: null }],
      ['location', { id: 'olo_1', name: 'Old Port Bakery' }],
      ['jobTitles', ['Baker', 'Büroleiter']],
      ['shift', { id: 'shf_1', hours: [8, 4] }],
      ['token', 'a text'],
    ])('has the resource of a %s', async (type, resource) => {
      const sent = changeOf(type, 'x_1', resource);
      server.answers(json([sent]));
      const { value, error } = await listChanges();
      expect(error).toBeUndefined();
      const { entity, changedAt, ...rest } = sent;
      const [item] = value.items;
      expect(item).toMatchObject({ ...rest, ...entity, resource: withoutTimes(resource) });
      expect(new Date(item.changedAt).toISOString()).toBe(changedAt);
      expect(JSON.parse(item.json)).toEqual(resource);
    });

    test('keeps the members that were added later', async () => {
      const added = { ...worker, nickname: 'Pri', fullName: 'Priya 🥐' };
      server.answers(json([changeOf('worker', 'wrk_1', added)]));
      const { value } = await listChanges();
      expect(JSON.parse(value.items[0].json)).toEqual(added);
      expect(value.items[0].resource).toMatchObject({ fullName: 'Priya 🥐' });
    });

    test('ignores members that a later release adds beside the resource, whatever their names', async () => {
      const added = { id: 7, type: {}, json: 'added', removed: true };
      server.answers(json([changeOf('worker', 'wrk_1', null, added)]));
      const { value, error } = await listChanges();
      expect(error).toBeUndefined();
      expect(value.items[0]).toMatchObject({ id: 'wrk_1', type: 'worker', json: null });
    });

    test('says what was removed', async () => {
      server.answers(json([changeOf('worker', 'wrk_1', null, { removed: true })]));
      const { value } = await listChanges();
      expect(value.items[0]).toMatchObject({ id: 'wrk_1', removed: true, resource: null, json: null });
    });

    test('is read on from a cursor, and says where to continue and whether more follows', async () => {
      const items = ['a', 'b'].map((id) => changeOf('jobTitles', id, []));
      server.answers(
        json(items, { link: '</v1/instance-integrations/iin_1/changes?limit=2&after=b>; rel="next"' }),
        json([changeOf('jobTitles', 'c', [])]),
        json([]),
      );
      const [first, second, last] = [
        await listChanges({ limit: 2 }),
        await listChanges({ after: 'life.jobTitles.b' }),
        await listChanges({ after: 'life.jobTitles.c', waitSeconds: 3 }),
      ];
      expect(first.value).toMatchObject({ cursor: 'life.jobTitles.b', hasMore: true });
      expect(second.value).toMatchObject({ cursor: 'life.jobTitles.c', hasMore: false });
      expect(last.value).toEqual({ items: [], cursor: 'life.jobTitles.c', hasMore: false });
      expect(server.asked.map(({ path }) => path)).toEqual([
        '/v1/instance-integrations/iin_1/changes?limit=2',
        '/v1/instance-integrations/iin_1/changes?after=life.jobTitles.b',
        '/v1/instance-integrations/iin_1/changes?after=life.jobTitles.c&wait=3',
      ]);
      expect(server.asked[0]?.headers).toMatchObject({ 'x-api-key': 'ik_demo_key' });
    });

    test('does not go round in a circle', async () => {
      server.answers(json([changeOf('unit', 'a', {})], { link: '<?after=a>; rel="next"' }));
      const { error } = await listChanges({ after: 'a' });
      expect(error).toMatchObject({ name: 'ApiError', code: 'unexpected_response' });
    });

    test('has no cursor before there is anything', async () => {
      server.answers(json([]));
      expect((await listChanges()).value).toEqual({ items: [], cursor: null, hasMore: false });
    });

    test('may take as long as the wait, on top of the time limit', async () => {
      const late: Answer = (response, asked) => void setTimeout(() => json([])(response, asked), 500);
      server.answers(late);
      expect((await listChanges({ waitSeconds: 25 }, { timeoutSeconds: 0.25 })).error).toBeUndefined();
      server.answers(silence);
      const { error } = await listChanges({}, { timeoutSeconds: 0.25 });
      expect(error).toMatchObject({ name: 'TimeoutError' });
    });

    test('is not cut off with the longest time limit, which would overflow a timer', async () => {
      server.answers((response, asked) => void setTimeout(() => json([])(response, asked), 100));
      const { value } = await listChanges({ waitSeconds: 25 }, { timeoutSeconds: FOREVER_SECONDS });
      expect(value).toMatchObject({ items: [] });
    });

    test('says when a cursor has expired, and does not ask again', async () => {
      server.answers(problem(410, 'cursor_expired'));
      const { error } = await listChanges({ after: 'life.jobTitles.c' });
      expect(error).toMatchObject({ name: 'ApiError', status: 410, code: 'cursor_expired' });
      expect(server.asked).toHaveLength(1);
    });

    test.each<[string, unknown]>([
      ['an object', {}],
      ['items that are no changes', [{ id: 'wrk_1' }]],
    ])('refuses %s', async (_, body) => {
      server.answers(json(body));
      expect((await listChanges()).error).toMatchObject({ status: 200, code: 'unexpected_response' });
    });
  });

  test('the digest of a client has each bit of its numbers', async () => {
    const entities = [{ type: 'worker', count: 2, digest: Number.MAX_SAFE_INTEGER }];
    server.answers(json({ clientId: 'cli_1', entities }, { etag: '"1"' }));
    const { value } = await driver.sdk.gateway({ baseUrl: server.url }, 'getChangesDigest', [
      'iin_1',
      'cli_1',
    ]);
    expect(value).toEqual({ clientId: 'cli_1', entities });
    expect(server.asked[0]?.path).toBe('/v1/instance-integrations/iin_1/changes/digest?clientId=cli_1');
  });
}

/** Languages write the same moment in more ways than one. */
function withoutTimes(resource: unknown): unknown {
  if (typeof resource !== 'object' || resource === null || !('createdAt' in resource)) {
    return resource;
  }
  const { createdAt, ...rest } = resource;
  return rest;
}

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type {
  ReadRequest,
  WatchChangesResponse,
} from '../../../generated/proto/integration/directory/v1/directory.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { newApiKey } from '../../../src/identifiers/api-key.js';
import { hashSecret } from '../../../src/identifiers/random-secrets.js';
import { eventually } from '../../support/eventually.js';
import { bytesOf, headerAt, rateLimit, refusing } from '../../support/gateway/directory-answers.js';
import { GATEWAY_URL, type Gateway, startGateway } from '../../support/gateway/gateway.js';
import { operationNamed, pathOf } from '../../support/gateway/operations.js';
import { signalled } from '../../support/signalled.js';
import { describeRead } from './read-suite.js';

const INSTANCE = 'ins_3p6PT9wVyh5HYgpDAJEJd8';
const path = pathOf(operationNamed('listChanges'));

const change = {
  cursor:
    'location.olo_vIjZX8fbgjZo5Hb4eb8gL9.szBGvIrPnsPXskaqfK4R7XTuJRY78e6CuV-r_ku5T440FIZA4VYdgUL1kNkz0A.HnuQ',
  entity: { type: 'location', id: 'olo_vIjZX8fbgjZo5Hb4eb8gL9' },
  clientId: 'cli_4Fqnh5226raKAAEIfY2jwW',
  removed: false,
  changedAt: '2026-06-11T16:02:19.350Z',
  version: 481_730_294_553,
  resource: { id: 'olo_vIjZX8fbgjZo5Hb4eb8gL9', name: 'Old Port Bakery' },
};

describeRead({
  operationId: 'listChanges',
  statuses: [200, 304, 400, 401, 404, 405, 406, 410, 429, 500, 503],
  body: [change, { ...change, removed: true, resource: null }],
});

/** A domain with changes to come. */
function changing() {
  const asked: ReadRequest[] = [];
  const streams = new Set<(message: WatchChangesResponse) => void>();
  let changes: object[] = [];
  const reading: { onRead: (count: number) => unknown } = { onRead: () => undefined };
  return {
    asked,
    streams,
    reading,
    /** Something changes, and the domain tells it. */
    change: (instanceIds = [INSTANCE]) => {
      changes = [change];
      for (const tell of streams) {
        tell({ instanceIds });
      }
    },
    directory: {
      read: async (request: ReadRequest) => {
        asked.push(request);
        const body = bytesOf(changes);
        const awaited = changes.length === 0 ? { awaitedInstanceId: INSTANCE } : {};
        reading.onRead(asked.length);
        return { header: { ...headerAt('v1'), ...awaited }, body };
      },
      watchChanges: async function* (_: object, { signal }: { signal: AbortSignal }) {
        const waiting: WatchChangesResponse[] = [{ instanceIds: [] }];
        let wake: () => void = () => undefined;
        const tell = (message: WatchChangesResponse) => {
          waiting.push(message);
          wake();
        };
        streams.add(tell);
        signal.addEventListener('abort', () => wake());
        try {
          while (!signal.aborted) {
            yield* waiting.splice(0);
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
        } finally {
          streams.delete(tell);
        }
      },
    },
  };
}

describe('changes', () => {
  let gateway: Gateway;

  beforeEach(async () => {
    gateway = await startGateway();
  });

  afterEach(() => gateway.stop());

  const ask = async (query: string) => {
    const answer = await gateway.ask('listChanges', `${path}?${query}`);
    return { ...answer, value: JSON.parse(answer.body || 'null') };
  };

  test('a cursor and a limit go to the domain, and the next page has a link', async () => {
    const asked: ReadRequest[] = [];
    gateway.program({
      read: async (request: ReadRequest) => {
        asked.push(request);
        return { header: headerAt('v1'), body: bytesOf([change]), nextCursor: 'a.b' };
      },
    });
    const { headers } = await ask('after=x.y&limit=1');
    expect(asked).toMatchObject([{ operationId: 'listChanges', cursor: 'x.y', limit: 1 }]);
    expect(headers.link).toBe(`<${GATEWAY_URL}${path}?limit=1&after=a.b>; rel="next"`);
  });

  test('410: a cursor from before a restore is told as expired', async () => {
    gateway.program(
      refusing(() => {
        throw new ServiceError(ErrorCode.CURSOR_EXPIRED, 'Start again.', { rateLimit });
      }),
    );
    const { status, value } = await ask('after=x.y');
    expect([status, value.code, value.title]).toEqual([410, 'cursor_expired', 'Gone']);
  });

  test.each(['wait=26', 'wait=-1', 'wait=x', 'limit=0', 'limit=1001', 'after=', `after=${'x'.repeat(129)}`])(
    '400: %s is refused, and named',
    async (query) => {
      gateway.program(changing().directory);
      const { status, value } = await ask(query);
      expect([status, value.errors[0]]).toMatchObject([400, { in: 'query', path: query.split('=')[0] }]);
    },
  );

  describe('that are waited for', () => {
    test('are answered when the domain tells of them, as one request of the rate limit', async () => {
      const domain = changing();
      domain.reading.onRead = (count) => count === 1 && setImmediate(() => domain.change());
      gateway.program(domain.directory);
      const { status, value } = await ask('wait=25');
      expect([status, value]).toEqual([200, [change]]);
      expect(domain.asked.map(({ isCounted }) => isCounted ?? false)).toEqual([false, true]);
    });

    test('and come between the look and the wait are not missed', async () => {
      const domain = changing();
      domain.reading.onRead = (count) => count === 1 && domain.change();
      gateway.program(domain.directory);
      await expect(ask('wait=25')).resolves.toMatchObject({ status: 200, value: [change] });
    });

    test('are an empty array when the wait is over', async () => {
      const domain = changing();
      domain.reading.onRead = () => {
        for (const tell of domain.streams) {
          tell({ instanceIds: ['ins_other'] });
        }
      };
      gateway.program(domain.directory);
      // If the process stands still for a second, the first look ends the wait, or the news comes late.
      await eventually('a look before the wait and one after it', async () => {
        domain.asked.length = 0;
        await expect(ask('wait=1')).resolves.toMatchObject({ status: 200, value: [] });
        return domain.asked.length === 2;
      });
    });

    test('are waited for although nothing is sent for longer than a connection may be silent', async () => {
      const impatient = await startGateway('demo', { stallTimeoutMs: 3_000 });
      try {
        const domain = changing();
        impatient.program(domain.directory);
        const answer = await impatient.ask('listChanges', `${path}?wait=5`);
        expect([answer.status, answer.body]).toEqual([200, '[]']);
      } finally {
        await impatient.stop();
      }
    });

    test('are not waited for when there are some that the caller has', async () => {
      const domain = changing();
      domain.change();
      gateway.program({
        ...domain.directory,
        read: async (request: ReadRequest) => {
          domain.asked.push(request);
          return { header: headerAt('v1', true), body: Buffer.alloc(0) };
        },
      });
      const headers = { 'if-none-match': '*' };
      const { status } = await gateway.ask('listChanges', `${path}?wait=25`, { headers });
      expect([status, domain.asked.length]).toEqual([304, 1]);
    });

    test('are looked for again when the stream of the domain was interrupted', async () => {
      const domain = changing();
      const { watchChanges, read } = domain.directory;
      let opened = 0;
      gateway.program({
        read,
        watchChanges: async function* (request, call) {
          opened += 1;
          if (opened === 1) {
            yield { instanceIds: [] };
            // The domain ends, and what changes now is not told.
            domain.change();
            return;
          }
          yield* watchChanges(request, call);
        },
      });
      domain.reading.onRead = () => undefined;
      await expect(ask('wait=25')).resolves.toMatchObject({ status: 200, value: [change] });
    });

    test('come over one stream for all requests', async () => {
      const domain = changing();
      let most = 0;
      domain.reading.onRead = (count) => {
        most = Math.max(most, domain.streams.size);
        if (count === 20) {
          setImmediate(() => domain.change());
        }
      };
      gateway.program(domain.directory);
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask('wait=25')));
      expect(answers.map(({ value }) => value)).toEqual(answers.map(() => [change]));
      expect(most).toBe(1);
    });

    test('are an empty array at once when the edge stops', async () => {
      const domain = changing();
      domain.reading.onRead = () => setImmediate(() => gateway.endWaits());
      gateway.program(domain.directory);
      await expect(ask('wait=25')).resolves.toMatchObject({ status: 200, value: [] });
    });

    describe('by many at once', () => {
      const WAITS = 64;
      const READ_AT_ONCE = 16;
      const OTHER_KEY = newApiKey('demo');

      /** A domain that holds the reads of those that a change has woken, once so many waits have begun. */
      function holding(waits: number) {
        const domain = changing();
        const woken: string[] = [];
        const { told: held, tell: letGo } = signalled();
        const { told: full, tell } = signalled();
        domain.reading.onRead = (count) => count === waits && setImmediate(() => domain.change());
        gateway.program({
          ...domain.directory,
          read: async (request: ReadRequest) => {
            const { header, body } = await domain.directory.read(request);
            const isOther = hashSecret(OTHER_KEY).equals(request.context?.apiKeyHash ?? Buffer.alloc(0));
            const integrationId = isOther ? 'other' : 'one';
            if (request.isCounted) {
              woken.push(integrationId);
              if (woken.length === READ_AT_ONCE) {
                tell();
              }
              await held;
            }
            return { header: { ...header, integrationId }, body };
          },
        });
        return { asked: domain.asked, woken, full, letGo };
      }

      test('are read for integrations in turn', async () => {
        const { asked, woken, full, letGo } = holding(WAITS + 1);
        const waits = Array.from({ length: WAITS }, () => ask('wait=25'));
        await eventually('all waits of one integration', () => asked.length === WAITS);
        const headers = { 'x-api-key': OTHER_KEY };
        const other = gateway.ask('listChanges', `${path}?wait=25`, { headers });
        await full;
        letGo();
        await Promise.all([...waits, other]);
        expect([woken.length, woken.indexOf('other') < WAITS]).toEqual([WAITS + 1, true]);
      });

      test('are not read for a client that leaves before its turn', async () => {
        const { woken, full, letGo } = holding(WAITS);
        const waits = Array.from({ length: WAITS }, () => ask('wait=25').catch(() => undefined));
        await full;
        gateway.dropClients();
        await Promise.all(waits);
        const left = () => gateway.lines().filter(({ code }) => code === 'client_left');
        await eventually('that all have ended', () => left().length === WAITS);
        letGo();
        expect(woken).toHaveLength(READ_AT_ONCE);
        expect(left().map(({ status }) => status)).toEqual(Array(WAITS).fill(499));
      });
    });

    test('429: more than 64 waits of a key are refused', async () => {
      const domain = changing();
      const full = signalled();
      domain.reading.onRead = (count) => count === 64 && full.tell();
      gateway.program(domain.directory);
      const waits = Array.from({ length: 64 }, () => ask('wait=25'));
      await full.told;
      const { status, value } = await ask('wait=25');
      expect([status, value.code]).toEqual([429, 'rate_limited']);
      gateway.endWaits();
      await Promise.all(waits);
    });

    test('are no longer waited for when the client has left', async () => {
      const domain = changing();
      const full = signalled();
      domain.reading.onRead = (count) => count === 64 && full.tell();
      gateway.program(domain.directory);
      const left = Array.from({ length: 64 }, () => ask('wait=25').catch((error: Error) => error));
      await full.told;
      expect((await ask('wait=1')).status).toBe(429);
      gateway.dropClients();
      for (const outcome of await Promise.all(left)) {
        expect(outcome).toBeInstanceOf(Error);
      }
      // Less than they would have waited.
      await eventually('that the key can wait', async () => (await ask('wait=1')).status === 200, 15_000);
    });
  });
});

import { describe, expect, test } from '@jest/globals';
import { exampleEvents } from '../../../generated/asyncapi/examples.js';
import type { Gatekeeper } from '../../../src/domain/access/gatekeeper.js';
import { LIST_LIMITS, ListSlots } from '../../../src/domain/access/list-slots.js';
import type { OperationId } from '../../../src/domain/directory/contract-json.js';
import { FIRST_PAGE_BYTES } from '../../../src/domain/directory/page.js';
import {
  type Answer,
  type DirectoryDependencies,
  directoryReads,
  LEFT_TO_REST,
  type Question,
  type Target,
} from '../../../src/domain/directory/reads.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { cursors } from '../../support/changes/cursors.js';

const visitor = {
  integrationId: 'itg_1',
  instanceId: 'ins_1',
  clientId: 'cli_1',
  apiKeyId: 'key_1',
  version: 'now',
  rateLimit: { limit: 9, remaining: 8, resetSeconds: 7 },
} as const;

const row = { id: 'row_1', createdAt: 5, json: '{}' };

/** Stores that report their calls, and a gatekeeper with a given outcome. */
function world({ holding = true, refusal }: { holding?: boolean; refusal?: Error } = {}) {
  const reads: unknown[][] = [];
  const admitted: unknown[][] = [];
  const store = new Proxy(
    {},
    {
      get:
        (_, method: string) =>
        async (...asked: unknown[]) => {
          reads.push([method, ...asked]);
          return method.startsWith('page') ? (holding ? [row] : []) : holding ? 'the text' : undefined;
        },
    },
  ) as never;
  const admit =
    (door: string) =>
    async (...path: unknown[]) => {
      admitted.push([door, ...path]);
      if (refusal) {
        throw refusal;
      }
      return visitor;
    };
  const gatekeeper = {
    ...{ admit: admit('integration'), admitToInstance: admit('instance'), admitToClient: admit('client') },
    lists: new ListSlots(),
  };
  return { store, reads, admitted, gatekeeper: gatekeeper as unknown as Gatekeeper };
}

type Ask = (gatekeeper: Gatekeeper, store: never, question: Question) => Promise<Answer<unknown>>;

const target: Target = {
  ...{ instanceIntegrationId: 'iin_1', clientId: 'cli_1', workerId: 'wrk_1', userId: 'usr_1' },
};

const asking =
  (operationId: OperationId, over: Partial<Target> = {}): Ask =>
  (gatekeeper, store, question) => {
    const stores = { instanceIntegrations: store, clients: store, workers: store, users: store };
    const dependencies: DirectoryDependencies = {
      gatekeeper,
      ...stores,
      organization: store,
      changes: store,
      cursors,
    };
    return directoryReads(dependencies)[operationId](question, { ...target, ...over });
  };

const lists: [operationId: OperationId, ask: Ask, firstRead: unknown[]][] = (
  [
    ['listClients', ['page', 'ins_1']],
    ['listWorkers', ['page', 'cli_1']],
    ['listWorkersV2', ['pageV2', 'cli_1']],
    ['listUsers', ['page', 'cli_1']],
  ] as const
).map(([operationId, read]) => [operationId, asking(operationId), [...read]]);
const ones: [operationId: OperationId, ask: Ask, read: unknown[], code: ErrorCode, message: string][] = [
  ['getClient', asking('getClient'), ['find', 'cli_1'], ErrorCode.CLIENT_NOT_FOUND, 'Client not found'],
  [
    'getWorkerV2',
    asking('getWorkerV2'),
    ['findV2', 'cli_1', 'wrk_1'],
    ErrorCode.WORKER_NOT_FOUND,
    'Worker not found',
  ],
  ['getUser', asking('getUser'), ['find', 'cli_1', 'usr_1'], ErrorCode.USER_NOT_FOUND, 'User not found'],
];
const parts: [operationId: OperationId, ask: Ask, read: unknown[]][] = [
  ['getOrganizationStructure', asking('getOrganizationStructure'), ['structureOf', 'cli_1']],
  ['listJobTitles', asking('listJobTitles'), ['jobTitlesOf', 'cli_1']],
  ['listInstanceIntegrations', asking('listInstanceIntegrations'), ['listOf', 'itg_1']],
];
const all = [...lists, ...ones, ...parts].map(([title, ask]) => ({ title, ask }));

const holding = (known: Partial<Question> = {}): Question => ({
  ...{ apiKeyHash: new Uint8Array([1]), knownVersions: [], anyVersionKnown: false, ...known },
});

async function contentOf({ content }: Answer<unknown>): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const page of content as AsyncIterable<{ rows: unknown[] }>) {
    rows.push(...page.rows);
  }
  return rows;
}

describe('a read of the directory', () => {
  test.each(all)('of $title first admits the caller, by key and path', async ({ title, ask }) => {
    const { gatekeeper, store, admitted } = world();
    await ask(gatekeeper, store, holding());
    const doors: Record<string, string[]> = {
      listInstanceIntegrations: ['integration'],
      listClients: ['instance', 'iin_1'],
    };
    const [door, ...path] = doors[title] ?? ['client', 'iin_1', 'cli_1'];
    expect(admitted).toEqual([[door, holding(), ...path]]);
  });

  test.each(all)(
    'of $title reads nothing for a refused caller, whichever version it has',
    async ({ ask }) => {
      const refusal = new Error('refused');
      const { gatekeeper, store, reads } = world({ refusal });
      await expect(
        ask(gatekeeper, store, holding({ knownVersions: ['now'], anyVersionKnown: true })),
      ).rejects.toBe(refusal);
      expect(reads).toEqual([]);
    },
  );

  test.each(all)('of $title reads nothing for a caller that has its version', async ({ ask }) => {
    const { gatekeeper, store, reads } = world();
    const answer = await ask(gatekeeper, store, holding({ knownVersions: ['old', 'now'] }));
    expect([answer, reads]).toEqual([{ visitor, content: undefined }, []]);
  });

  test.each(lists)(
    'of the list of %s reads what the gatekeeper led to, page by page',
    async (_, ask, first) => {
      const { gatekeeper, store, reads } = world();
      const answer = await ask(gatekeeper, store, holding({ knownVersions: ['old'] }));
      expect(reads).toEqual([]);
      expect(await contentOf(answer)).toEqual([row]);
      expect(reads[0]?.slice(0, 2)).toEqual(first);
    },
  );

  test.each(lists)(
    'of the list of %s reads for who holds versions that only look like its own',
    async (_, ask) => {
      const { gatekeeper, store } = world();
      const { content } = await ask(gatekeeper, store, holding({ knownVersions: ['NOW', 'now ', 'no'] }));
      expect(content).toBeDefined();
    },
  );

  test.each([...lists, ...parts])('of %s reads nothing for a caller that has any version', async (_, ask) => {
    const { gatekeeper, store, reads } = world();
    const answer = await ask(gatekeeper, store, holding({ anyVersionKnown: true }));
    expect([answer.content, reads]).toEqual([undefined, []]);
  });

  const single = [...ones, ...parts].map(([title, ask, read]): [string, Ask, unknown[]] => [
    title,
    ask,
    read,
  ]);
  test.each(single)('of %s reads once, under the client of the path', async (_, ask, read) => {
    const { gatekeeper, store, reads } = world();
    expect((await ask(gatekeeper, store, holding())).content).toBe('the text');
    expect(reads).toEqual([read]);
  });

  test.each(ones)('of %s is not modified for a caller that has any version, if it exists', async (_, ask) => {
    const { gatekeeper, store } = world();
    expect((await ask(gatekeeper, store, holding({ anyVersionKnown: true }))).content).toBeUndefined();
  });

  test.each(ones)(
    'of %s that does not exist says so, also to who holds any version, and where the caller stands',
    async (_, ask, _read, code, message) => {
      for (const known of [{}, { anyVersionKnown: true }, { knownVersions: ['old'] }]) {
        const { gatekeeper, store } = world({ holding: false });
        const refusal = await ask(gatekeeper, store, holding(known)).catch((error: unknown) => error);
        expect(refusal).toBeInstanceOf(ServiceError);
        const { code: said, message: words, rateLimit } = refusal as ServiceError;
        expect([said, words, rateLimit]).toEqual([code, message, visitor.rateLimit]);
      }
    },
  );
});

describe('many reads of something long', () => {
  const LONG = '"'.padEnd(FIRST_PAGE_BYTES + 1, 'x');

  /** The most reads that begin in one turn of the event loop. */
  async function mostInATurn(operationId: OperationId, text: string, count: number) {
    let begun = 0;
    // Synchronous, as statements of SQLite are.
    const read = async () => {
      begun += 1;
      return text;
    };
    const { gatekeeper } = world();
    const organization = { structureOf: read, jobTitlesOf: read };
    const reads = directoryReads({ gatekeeper, organization, readsBlock: true } as never);
    const answers = Array.from({ length: count }, () => reads[operationId](holding(), target));
    await new Promise(process.nextTick);
    const seen = [begun];
    while (begun < count) {
      await new Promise(setImmediate);
      seen.push(begun);
    }
    await Promise.all(answers);
    return Math.max(...seen.map((now, index) => now - (seen[index - 1] ?? 0)));
  }

  test.each(['getOrganizationStructure', 'listJobTitles'] as const)(
    'by %s are divided among turns of the event loop, those of something short are not',
    async (operationId) => {
      expect(await mostInATurn(operationId, LONG, 6)).toBe(1);
      expect(await mostInATurn(operationId, '[]', 6)).toBe(6);
    },
  );

  test.each(['getOrganizationStructure', 'listJobTitles'] as const)(
    'by %s count as lists, and are not made where they are refused or left to the rest',
    async (operationId) => {
      const { gatekeeper, store, reads } = world();
      const ask = asking(operationId);
      const releases = Array.from({ length: LIST_LIMITS.perIntegration }, () =>
        gatekeeper.lists.hold(visitor as never),
      );
      await expect(ask(gatekeeper, store, holding())).rejects.toMatchObject({ code: ErrorCode.RATE_LIMITED });
      for (const release of releases) {
        release();
      }
      const refusal = new Error('too many');
      const beforeWhole = () => {
        throw refusal;
      };
      await expect(ask(gatekeeper, store, holding({ beforeWhole }))).rejects.toBe(refusal);
      const left = await ask(gatekeeper, store, holding({ beforeWhole: () => LEFT_TO_REST }));
      expect([left.content, reads]).toEqual([LEFT_TO_REST, []]);
      expect((await ask(gatekeeper, store, holding())).content).toBe('the text');
    },
  );
});

describe('many reads of organization structures', () => {
  /** Reads that end when they are told to, in the order in which they began. */
  function structures() {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const gatekeeper = {
      admitToClient: async (_: Question, __: string, clientId: string) => ({
        ...visitor,
        ...{ clientId, integrationId: `itg of ${clientId}` },
      }),
      lists: new ListSlots(),
    } as unknown as Gatekeeper;
    const organization = {
      structureOf: (clientId: string) => {
        begun.push(clientId);
        return new Promise<string>((resolve) => ends.push(() => resolve('the text')));
      },
    };
    const { getOrganizationStructure } = directoryReads({ gatekeeper, organization } as never);
    const ask = (clientId: string, isOver?: () => boolean) =>
      getOrganizationStructure({ ...holding(), isOver }, { ...target, clientId: clientId as 'cli_1' });
    const settled = () => new Promise(setImmediate);
    return { ask, begun, ends, settled };
  }

  test('are two at a time, of two integrations, in turn', async () => {
    const { ask, begun, ends, settled } = structures();
    const answers = ['cli_1', 'cli_1', 'cli_1', 'cli_2', 'cli_3'].map((clientId) => ask(clientId));
    for (const read of [2, 3, 4, 5]) {
      await settled();
      expect(begun).toHaveLength(read);
      ends.shift()?.();
    }
    await settled();
    ends.shift()?.();
    expect(await Promise.all(answers)).toHaveLength(5);
    expect(begun).toEqual(['cli_1', 'cli_2', 'cli_1', 'cli_3', 'cli_1']);
  });

  test('are not made for a caller that has left before their turn', async () => {
    const { ask, begun, ends, settled } = structures();
    const present = [ask('cli_1'), ask('cli_2')];
    const left = ask('cli_1', () => true);
    const last = ask('cli_1');
    await settled();
    ends.shift()?.();
    await expect(left).rejects.toMatchObject({ code: ErrorCode.UNAVAILABLE });
    await settled();
    expect(begun).toHaveLength(3);
    for (const end of ends) {
      end();
    }
    expect(await Promise.all([...present, last])).toHaveLength(3);
  });

  test('count as lists of their integration while they wait, and are refused beyond its limit', async () => {
    const { ask, begun, ends, settled } = structures();
    const answers = Array.from({ length: LIST_LIMITS.perIntegration }, () => ask('cli_1'));
    await settled();
    await expect(ask('cli_1')).rejects.toMatchObject({ code: ErrorCode.RATE_LIMITED });
    const other = ask('cli_2');
    while (begun.length < answers.length + 1) {
      ends.shift()?.();
      await settled();
    }
    for (const end of ends) {
      end();
    }
    expect(await Promise.all([...answers, other])).toHaveLength(answers.length + 1);
    void ask('cli_1');
    await settled();
    expect(begun).toHaveLength(answers.length + 2);
  });
});

describe('a read of what a test event links to', () => {
  const { clientId, userId } = exampleEvents['user.updated'].data;
  const { workerId } = exampleEvents['worker.updated'].data;
  const sample = { clientId, userId, workerId };
  const samples: [operationId: OperationId, entityIds: string[]][] = [
    ['getClient', [clientId]],
    ['getUser', [userId]],
    ['getWorkerV2', [workerId]],
    [
      'getOrganizationStructure',
      [
        exampleEvents['organization_unit.created'].entity.id,
        exampleEvents['organization_unit_type.created'].entity.id,
        exampleEvents['organization_location.deleted'].entity.id,
      ],
    ],
  ];

  test.each(samples)('by %s answers the sample on every instance, from no store', async (id, entityIds) => {
    const { gatekeeper, store, reads, admitted } = world();
    const { content } = await asking(id, sample)(gatekeeper, store, holding());
    for (const entityId of entityIds) {
      expect(content).toContain(`"${entityId}"`);
    }
    expect([reads, admitted]).toEqual([[], [['instance', holding(), 'iin_1']]]);
  });

  test.each(samples)('by %s is refused to a caller that is not admitted', async (id) => {
    const refusal = new Error('refused');
    const { gatekeeper, store } = world({ refusal });
    await expect(asking(id, sample)(gatekeeper, store, holding({ anyVersionKnown: true }))).rejects.toBe(
      refusal,
    );
  });

  test.each<[OperationId, Partial<Target>]>([
    ['getUser', { userId: 'usr_0000000000000000000000' }],
    ['getWorkerV2', { workerId: 'wrk_0000000000000000000000' }],
    ['listUsers', {}],
  ])('is no sample for %s of another path', async (id, over) => {
    const { gatekeeper, store, admitted } = world();
    await asking(id, { ...sample, ...over })(gatekeeper, store, holding());
    expect(admitted).toEqual([['client', holding(), 'iin_1', clientId]]);
  });
});

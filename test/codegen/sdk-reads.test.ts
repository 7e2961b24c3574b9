import { describe, expect, test } from '@jest/globals';
import type { Document, Operation } from '../../src/codegen/documents.js';
import { sdkReads } from '../../src/codegen/steps/sdk-reads.js';
import { readsOf } from '../../src/codegen/steps/sdk-reads-contract.js';

const withOneOperation = {
  paths: {
    '/v3/clients/{clientId}/pay-runs': {
      parameters: [{ $ref: '#/components/parameters/ClientId' }],
      get: {
        operationId: 'listPayRunsV3',
        tags: ['Pay runs'],
        description: 'The pay runs\nsince `sinceRun`, or one page of them with `limit`. Empty at first.',
        parameters: [
          { name: 'sinceRun', in: 'query', required: true },
          { name: 'cursor', in: 'query' },
        ],
        responses: {
          200: {
            content: {
              'application/json': {
                schema: { type: 'array', items: { $ref: '#/components/schemas/PayRun' } },
              },
            },
          },
        },
      },
    },
  },
  components: {
    parameters: { ClientId: { name: 'clientId', in: 'path', required: true } },
    schemas: {
      PayRun: { type: 'object', items: { $ref: '#/components/schemas/PayState' } },
      PayState: { type: 'string', enum: ['PAID_OUT'] },
      Problem: { type: 'object' },
    },
  },
} as unknown as Document;

test('an operation of the contract is a read in Go, with its pages, and its models are exported', () => {
  const { 'go/reads/reads.go': reads, 'go/reads/models.go': models } = sdkReads(withOneOperation);
  expect(reads?.split('\n\n').slice(2)).toEqual([
    'import "context"',
    `// ListPayRunsV3 returns the pay runs since SinceRun.
func (g *Gateway) ListPayRunsV3(ctx context.Context, clientID, sinceRun string) ([]PayRun, error) {
	return dataOf(g.IfChanged("").ListPayRunsV3(ctx, clientID, sinceRun))
}`,
    `// ListPayRunsV3 returns the pay runs since SinceRun.
func (c Conditional) ListPayRunsV3(ctx context.Context, clientID, sinceRun string) (Reading[[]PayRun], error) {
	return conditionally(c.etag, c.gateway.api.PayRunsAPI.ListPayRunsV3(ctx, clientID).SinceRun(sinceRun))
}`,
    `// PayRuns reads the pay runs of a client, page by page.
func (g *Gateway) PayRuns(ctx context.Context, clientID, sinceRun string) Sequence[PayRun] {
	return paged(ctx, g, g.api.PayRunsAPI.ListPayRunsV3(ctx, clientID).SinceRun(sinceRun).Limit(g.pageSize).Execute)
}
`,
  ]);
  expect(models).toContain('type (\n\tPayRun   = gateway.PayRun\n\tPayState = gateway.PayState\n)\n');
  expect(models).toContain('const (\n\tPayStatePaidOut = gateway.PayStatePaidOut\n)\n');
});

test('an operation of the contract is a read in Python, with its pages and models', () => {
  const files = sdkReads(withOneOperation);
  const reads = files['python/reads/integration_service/_reads.py'];
  const given = 'self, client_id: str, since_run: str, *';
  const perCall = 'timeout_seconds: float | None = None, request_id: str | None = None';
  expect(reads).toContain(`    def list_pay_runs_v3(${given}, ${perCall}) -> list[PayRun]: ...`);
  expect(reads).toContain('        """The pay runs since ``since_run``."""\n');
  expect(reads).toContain('``for pay_run in gateway.pay_runs(…)``');
  expect(reads).toContain(`    def pay_runs(${given}, page_size: int = DEFAULT_PAGE_SIZE, `);
  expect(files['python/reads/integration_service/models.py']).toContain(
    'import PayRun, PayState, ProblemCode\n',
  );
});

test('an operation of the contract is a read in TypeScript, with its pages', () => {
  const { 'typescript/reads.ts': reads } = sdkReads(withOneOperation);
  const given = 'clientId: string, sinceRun: string';
  const request = 'this.#payRuns.listPayRunsV3RequestOpts({ clientId, sinceRun, ...asked })';
  expect(reads).toContain(`
  /** The pay runs since \`sinceRun\`. */
  listPayRunsV3(${given}, options: ConditionalReadOptions): Promise<Reading<PayRun[]>>;
  listPayRunsV3(${given}, options?: ReadOptions): Promise<PayRun[]>;
  listPayRunsV3(${given}, options: AnyReadOptions = {}): Promise<PayRun[] | Reading<PayRun[]>> {
    return this.#reader.readList<PayRun>((asked) => ${request}, PayRunFromJSON, options);
  }

  /** The pay runs of a client, read page by page: \`for await (const payRun of gateway.payRuns(…))\`. */
  payRuns(${given}, options: PagedOptions = {}): Paged<PayRun> {
    return this.#reader.pages<PayRun>((asked) => ${request}, PayRunFromJSON, options);
  }
`);
});

describe('an operation that the generator cannot express is refused', () => {
  type Item = { get: Operation };
  const [path, item] = Object.entries(withOneOperation.paths)[0] as [string, Item];
  const changed =
    (get: Partial<Operation>, more: Document['paths'] = {}) =>
    () =>
      readsOf({ ...withOneOperation, paths: { [path]: { ...item, get: { ...item.get, ...get } }, ...more } });
  const answering = (schema: object) => ({
    responses: { 200: { description: '', content: { 'application/json': { schema } } } },
  });

  test.each([
    [
      'a filter',
      changed({ parameters: [{ name: 'status', in: 'query', schema: {} }] }),
      'would leave out status',
    ],
    [
      'an answer without a name',
      changed(answering({ type: 'object' })),
      'the schema of its answer needs a name',
    ],
    ['no sentence', changed({ description: 'Pay runs' }), 'its description needs a sentence'],
    ['a deprecation', changed({ deprecated: true }), 'would not say that it is deprecated'],
    ['a write', changed({}, { '/v3/pay-runs': { post: item.get } }), 'they only read'],
    [
      'pages of the same name',
      changed(
        {},
        { [path.replace('v3', 'v4')]: { ...item, get: { ...item.get, operationId: 'listPayRunsV4' } } },
      ),
      'would have the name payRuns',
    ],
  ])('%s', (_, read, fault) => {
    expect(read).toThrow(fault);
  });
});

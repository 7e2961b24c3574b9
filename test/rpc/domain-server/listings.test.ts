import { expect, test } from '@jest/globals';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { allServices, namingLists } from '../../../src/rpc/domain-server/index.js';
import type { AnyMethod, CallContext, Handler } from '../../../src/rpc/handlers.js';

const context = { identity: { caller: 'platform', tokenId: 'tok_1' } } as CallContext;
const PLACE = Buffer.from('1.x').toString('base64url');

const services = allServices({
  ...{
    directory: {},
    maintenance: {},
    platform: { unitOfWork: {} },
    operator: { unitOfWork: { rows: {} } },
    signOn: {},
    deliveries: {},
  },
  webhooks: { unitOfWork: { rows: {} } },
} as never);

/** The methods whose request has a page token, with their handlers. */
const lists = services.flatMap(({ definition, handlers }) =>
  Object.entries(definition as Record<string, AnyMethod>).flatMap(([name, { requestDeserialize }]) => {
    const empty = requestDeserialize(Buffer.alloc(0)) as object;
    const handler = handlers[name] as Handler<AnyMethod>;
    return 'pageToken' in empty
      ? [{ name, ask: (pageToken: string) => handler({ ...empty, pageToken }, context) }]
      : [];
  }),
);

test('every list refuses the page tokens of every other list', async () => {
  expect(lists.length).toBeGreaterThan(20);
  for (const { name, ask } of lists) {
    for (const other of lists.filter((each) => each.name !== name)) {
      await expect(ask(`${other.name}.${PLACE}`)).rejects.toMatchObject({
        code: ErrorCode.INVALID_REQUEST,
        fieldViolations: [{ path: 'page_token' }],
      });
    }
  }
});

test('a page token names its method and client, and a list accepts one of release 1.3.1, which names none', async () => {
  const asked: unknown[] = [];
  const listUsers: Handler<AnyMethod> = async (request) => {
    const { pageToken } = request as { pageToken: string };
    asked.push(pageToken);
    return { users: [], nextPageToken: pageToken === PLACE ? '' : PLACE };
  };
  const { handlers } = namingLists({ definition: {}, handlers: { listUsers } });
  const page = (pageToken: string) => handlers.listUsers?.({ clientId: 'cli_1', pageToken }, context);
  expect(await page('')).toEqual({ users: [], nextPageToken: `listUsers.cli_1.${PLACE}` });
  expect(await page(`listUsers.cli_1.${PLACE}`)).toEqual({ users: [], nextPageToken: '' });
  expect(await page(PLACE)).toEqual({ users: [], nextPageToken: '' });
  await expect(page(`listUsers.cli_2.${PLACE}`)).rejects.toMatchObject({ code: ErrorCode.INVALID_REQUEST });
  expect(asked).toEqual(['', PLACE, PLACE]);
});

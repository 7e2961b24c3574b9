import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Driven } from './line-driver.js';
import { json, page, type ScriptedServer, scriptedServers } from './scripted-server.js';
import { user } from './user.js';

/** Over a gateway with pages made by the test. */
export function describePaging(driver: Driven): void {
  const newServer = scriptedServers();
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await newServer();
  });
  const quick = () => ({ baseUrl: server.url, retry: { baseDelaySeconds: 0.001 } });

  describe('paging', () => {
    const onePage = (userId: string, link?: string) =>
      json([{ ...user, userId }], link === undefined ? {} : { link });
    const users = async (pageSize = 200) => {
      const { value, error } = await driver.sdk.gateway({ ...quick(), pageSize }, 'users', [
        'iin_1',
        'cli_1',
      ]);
      return error ?? value.map(({ userId }: { userId: string }) => userId);
    };

    test('asks with the query of the next page, however Link says it', async () => {
      server.answers(
        onePage('a', '</v1/x?limit=1&cursor=A>; rel="next"'),
        onePage('b', '<?cursor=P>; rel=prev, <?cursor=B,2>; title="x"; rel="last next"'),
        onePage('c', '<http://[/?cursor=C#D>; rel="next"'),
        onePage('d', '<?cursor=E>; rel="nextish"'),
      );
      expect(await users(1)).toEqual(['a', 'b', 'c', 'd']);
      expect(server.asked.map(({ path }) => path)).toEqual([
        '/v1/instance-integrations/iin_1/clients/cli_1/users?limit=1',
        '/v1/instance-integrations/iin_1/clients/cli_1/users?limit=1&cursor=A',
        '/v1/instance-integrations/iin_1/clients/cli_1/users?cursor=B,2',
        '/v1/instance-integrations/iin_1/clients/cli_1/users?cursor=C',
      ]);
      expect(server.asked.map(({ headers }) => headers['x-api-key'])).toEqual(Array(4).fill('ik_demo_key'));
    });

    test('never takes the key to another server or path: the service may know itself by another address', async () => {
      server.answers(
        onePage('a', '<https://gateway.example.com/v1/users?cursor=A>; rel="next"'),
        onePage('b'),
      );
      expect(await users()).toEqual(['a', 'b']);
      expect(server.asked[1]?.path).toBe('/v1/instance-integrations/iin_1/clients/cli_1/users?cursor=A');
    });

    test('does not go round in a circle', async () => {
      server.answers(onePage('a', '<?limit=200>; rel="next"'));
      expect(await users()).toMatchObject({ name: 'ApiError', code: 'unexpected_response' });
      expect(server.asked).toHaveLength(1);
    });

    test('a page that fails is tried again, and those before it are not', async () => {
      server.answers(onePage('a', '<?cursor=A>; rel="next"'), page(503), onePage('b'));
      expect(await users()).toEqual(['a', 'b']);
      expect(server.asked).toHaveLength(3);
    });
  });
}

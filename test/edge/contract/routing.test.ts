import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Dispatch } from '../../../src/edge/http/exchange.js';
import { ask, openGatewayApi } from '../../support/contract/contract-api.js';

const ID = 'iin_HnuQOy4YQg1OdOSCDbMAkY';
const LIST = '/v1/instance-integrations';
const CLIENTS = `${LIST}/${ID}/clients`;

let dispatch: Dispatch;

beforeAll(async () => {
  const ok = async () => ({ status: 200, headers: {}, body: [] });
  dispatch = await openGatewayApi({ handlers: { listInstanceIntegrations: ok, listClients: ok } });
});

describe('a path is taken to the letter', () => {
  test.each([
    ['the list', LIST, 'listInstanceIntegrations'],
    ['below an instance integration', CLIENTS, 'listClients'],
    [
      'with a letter percent-encoded, which says the same',
      '/v1/instance%2Dintegrations',
      'listInstanceIntegrations',
    ],
  ])('%s is found', async (_, path, operation) => {
    expect(await ask(dispatch, path)).toMatchObject({ status: 200, operation });
  });

  test.each([
    ['nothing', ''],
    ['the root', '/'],
    ['a star', '*'],
    ['an unknown path', '/v3/instance-integrations'],
    ['a slash at the end', `${LIST}/`],
    ['a slash at the end of a longer one', `${CLIENTS}/`],
    ['a slash too many in front', `/${LIST}`],
    ['an asterisk for the first slash', `*${LIST.slice(1)}`],
    ['a slash too many within', '/v1//instance-integrations'],
    ['another case', '/V1/Instance-Integrations'],
    ['a dot segment', '/v1/./instance-integrations'],
    ['a way up and down again', '/v1/x/../instance-integrations'],
    ['an encoded way up', '/v1/x/%2e%2e/instance-integrations'],
    ['an encoded slash', '/v1%2Finstance-integrations'],
    ['an encoded slash at the end', `${LIST}%2F`],
    ['an encoded question mark', `${LIST}%3Fa=b`],
    ['an encoded hash', `${LIST}%23`],
    ['a parameter after a semicolon', `${LIST};v=1`],
    ['a NUL at the end', `${LIST}%00`],
    ['an empty id', `${LIST}//clients`],
    ['the name of a property of every object', '/__proto__'],
    ['another one', '/constructor/prototype'],
    ['a template of the document itself', '/v1/instance-integrations/{instanceIntegrationId}'],
    ['15,000 characters', `/${'x'.repeat(15_000)}`],
    ['5,000 slashes', '/'.repeat(5_000)],
  ])('%s answers 404', async (_, path) => {
    const answer = await ask(dispatch, path);
    expect(answer).toMatchObject({ status: 404, operation: 'none', problem: { code: 'route_not_found' } });
  });

  test.each(['%', '%z', '%zz', '%2', '%C3', '%ff', '%u0041', '%E0%A4%A'])(
    'the broken percent-encoding %s is refused, at a known path and elsewhere',
    async (broken) => {
      for (const path of [`${LIST}${broken}`, `/${broken}`, `${LIST}/${broken}/clients`]) {
        expect(await ask(dispatch, path)).toMatchObject({
          status: 400,
          problem: { code: 'invalid_request' },
        });
      }
    },
  );
});

describe('an id in a path that is none of its kind', () => {
  test.each([
    ['another prefix', 'cli_HnuQOy4YQg1OdOSCDbMAkY'],
    ['no prefix', 'HnuQOy4YQg1OdOSCDbMAkY'],
    ['another case of the prefix', 'IIN_HnuQOy4YQg1OdOSCDbMAkY'],
    ['a character too few', ID.slice(0, -1)],
    ['a character too many', `${ID}a`],
    ['another alphabet', `${ID.slice(0, -1)}-`],
    ['a slash inside, encoded', `${ID.slice(0, -2)}%2Fa`],
    ['a NUL at the end', `${ID}%00`],
    ['a line break at the end', `${ID}%0A`],
    ['a space in front', `%20${ID}`],
    ['two dots', '..'],
    ['two dots, encoded', '%2e%2e'],
    ['__proto__', '__proto__'],
    ['an apostrophe of SQL', "iin_'%20OR%201=1--"],
    ['101 characters', 'a'.repeat(101)],
    ['10,000 characters', 'a'.repeat(10_000)],
  ])('%s is refused with 400, and named', async (_, id) => {
    const answer = await ask(dispatch, `${LIST}/${id}/clients`);
    expect(answer).toMatchObject({ status: 400, operation: 'listClients' });
    expect(answer.problem?.errors).toEqual([
      {
        in: 'path',
        path: 'instanceIntegrationId',
        message: 'must be a public id of the form iin_ and 22 letters or digits',
      },
    ]);
  });
});

describe('methods', () => {
  test('HEAD goes to the operation of GET', async () => {
    expect(await ask(dispatch, LIST, { method: 'HEAD' })).toMatchObject({
      status: 200,
      operation: 'listInstanceIntegrations',
    });
  });

  test.each(['OPTIONS', 'PUT', 'POST', 'PATCH', 'DELETE', 'CONNECT', 'TRACE', 'get', 'constructor', ''])(
    '%j is answered 405 with what the path takes',
    async (method) => {
      const answer = await ask(dispatch, CLIENTS, { method });
      expect(answer).toMatchObject({ status: 405, operation: 'none', headers: { allow: 'GET, HEAD' } });
    },
  );

  test('a path that takes nothing is 404 by any method', async () => {
    for (const method of ['OPTIONS', 'HEAD', 'POST']) {
      expect(await ask(dispatch, '/nowhere', { method })).toMatchObject({ status: 404 });
    }
  });
});

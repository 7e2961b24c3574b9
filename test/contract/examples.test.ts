import { createHash, createHmac } from 'node:crypto';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { calculateJwkThumbprint, createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import type { InstanceIntegrationId } from '../../generated/ids.js';
import { setCookie } from '../../src/edge/http/cookies.js';
import { cursors } from '../support/changes/cursors.js';
import { wrongExamples } from './contract-validator.js';
import {
  at,
  type ContractFile,
  type ExampleKind,
  findExampleSites,
  isObject,
  type Json,
  type JsonObject,
  loadContracts,
  schemaShowsValue,
} from './documented-examples.js';

const contracts = loadContracts();
const httpContracts = contracts.filter(({ root }) => !('asyncapi' in root));
const webhooks = fileNamed('webhooks.asyncapi.yaml');

function fileNamed(name: string, files: ContractFile[] = contracts): ContractFile {
  const file = files.find((candidate) => candidate.name === name);
  if (!file) {
    throw new Error(`there is no openapi/${name}`);
  }
  return file;
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the examples of the contracts', () => {
  test('the gateway, the webhooks and the files they share are all looked at', () => {
    const names = contracts.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['gateway.yaml', 'webhooks.asyncapi.yaml']));
    expect(names).toEqual(expect.arrayContaining(['ids.yaml', 'problem.yaml', 'directory.yaml']));
  });

  test('every example is what its schema says', () => {
    expect(wrongExamples(contracts)).toEqual([]);
  });

  test.each(httpContracts.map((file) => [file.name, file] as const))(
    '%s shows an example of every parameter, header and JSON body',
    (_name, file) => {
      const without = findExampleSites(file)
        .filter(({ examples, mediaType }) => examples.length === 0 && (!mediaType || isJson(mediaType)))
        .filter(({ pointer }) => !schemaShowsValue(contracts, file, pointer));
      expect(without.map(({ kind, pointer }) => `${kind} ${pointer}`)).toEqual([]);
    },
  );

  test('every message has an example of its own type', () => {
    const messages = at(webhooks.root, '/components/messages') as JsonObject;
    expect(Object.keys(messages)).toHaveLength(9);
    for (const [type, message] of Object.entries(messages)) {
      const examples = examplesOf(message);
      expect(examples.length).toBeGreaterThan(0);
      for (const { headers, payload } of examples) {
        expect(payload.type).toBe(type);
        expect(headers['webhook-id']).toBe(payload.id);
      }
    }
  });
});

describe('a wrong example is caught', () => {
  const id = 'cli_tooShort';
  const instanceIntegrations =
    '/paths/~1v1~1instance-integrations/get/responses/200/content/application~1json';
  const plants: [ExampleKind, string, string, string, Json][] = [
    ['body', 'gateway.yaml', `${instanceIntegrations}/examples/twoInstances/value/0`, 'id', id],
    ['parameter', 'gateway.yaml', '/components/parameters/ClientId', 'example', id],
    ['header', 'problem.yaml', '/components/headers/RateLimitReset', 'example', -1],
    [
      'schema',
      'directory.yaml',
      '/components/schemas/Address/properties/isoCountryCode/examples',
      '0',
      'USA',
    ],
    ['message headers', 'webhooks.asyncapi.yaml', `${example('client.created')}/headers`, 'webhook-id', id],
    ['message payload', 'webhooks.asyncapi.yaml', `${example('user.updated')}/payload/data`, 'manager', []],
  ];

  test.each(plants)('in a %s of %s', (_kind, name, pointer, key, wrong) => {
    const copies = structuredClone(contracts);
    const parent = at(fileNamed(name, copies).root, pointer) as JsonObject;
    expect(parent[key]).toBeDefined();
    parent[key] = wrong;
    const found = wrongExamples(copies);
    expect(found.length).toBeGreaterThan(0);
    expect(found.every((line) => line.startsWith(`${name}#`))).toBe(true);
  });

  test('and so is a member that is missing', () => {
    const copies = structuredClone(contracts);
    const data = at(
      fileNamed(webhooks.name, copies).root,
      `${example('worker.updated')}/payload/data`,
    ) as JsonObject;
    delete data.organizationLocation;
    expect(wrongExamples(copies).join()).toContain("must have required property 'organizationLocation'");
  });
});

describe('the signatures of the message examples', () => {
  const description = String(at(webhooks.root, '/info/description'));
  const secret = /`(whsec_[A-Za-z0-9+/=]+)`/.exec(description)?.[1] ?? '';
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const messages = Object.entries(at(webhooks.root, '/components/messages') as JsonObject);
  const examples = messages.flatMap(([, message]) => examplesOf(message));

  test('are made with the documented secret over the compact payload', () => {
    expect(key).toHaveLength(32);
    for (const { headers, payload } of examples) {
      const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${JSON.stringify(payload)}`;
      const signature = createHmac('sha256', key).update(content).digest('base64');
      expect(`${payload.id} ${headers['webhook-signature']}`).toBe(`${payload.id} v1,${signature}`);
    }
  });

  test('verify with the code the document shows, and a changed byte or an old timestamp does not', async () => {
    const code = /```js\n([\s\S]*?)```/.exec(description)?.[1] ?? '';
    const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    for (const { headers, payload } of examples) {
      const body = JSON.stringify(payload);
      const sentAtMs = Number(headers['webhook-timestamp']) * 1000;
      const now = jest.spyOn(Date, 'now').mockReturnValue(sentAtMs + 299_000);
      expect(isGenuine(headers, body, secret)).toBe(true);
      const rotated = {
        ...headers,
        'webhook-signature': `v1,${'A'.repeat(43)}= ${headers['webhook-signature']}`,
      };
      expect(isGenuine(rotated, body, secret)).toBe(true);
      expect(isGenuine(headers, body.replace('"specVersion":1', '"specVersion":2'), secret)).toBe(false);
      now.mockReturnValue(sentAtMs + 301_000);
      expect(isGenuine(headers, body, secret)).toBe(false);
    }
  });
});

describe('the cursors of the examples', () => {
  const gateway = fileNamed('gateway.yaml').root;
  const changes = '/paths/~1v1~1instance-integrations~1{instanceIntegrationId}~1changes/get';
  const items = at(gateway, `${changes}/responses/200/content/application~1json/examples/twoChanges/value`);
  const reader = at(gateway, '/components/parameters/InstanceIntegrationId/example') as InstanceIntegrationId;

  test('are those of their items, as the service writes them', () => {
    const places = (items as { cursor: string; entity: { type: string; id: string } }[]).map((item) => {
      const place = cursors.read(item.cursor, reader);
      expect(place?.after).toMatchObject(item.entity);
      return place;
    });
    expect(places).toMatchObject([
      { life: '8c1f02d4a7b9', after: { position: 99 }, beganAt: 0, newest: 100 },
      { life: '8c1f02d4a7b9', after: { position: 100 }, beganAt: 0, newest: 100 },
    ]);
  });

  test('are the same where one stands alone', () => {
    const { cursor } = (items as { cursor: string }[])[1] ?? {};
    const property = at(fileNamed('directory.yaml').root, '/components/schemas/Change/properties/cursor');
    const parameters = at(gateway, `${changes}/parameters`) as { name?: string; example?: string }[];
    expect((property as JsonObject).examples).toEqual([cursor]);
    expect(parameters.find(({ name }) => name === 'after')?.example).toBe(cursor);
  });
});

describe('the examples of sign-on', () => {
  const signOn = fileNamed('sign-on.yaml').root;
  const exampleOf = (name: string) => at(signOn, `/components/examples/${name}/value`);
  const keySet = exampleOf('JwkSet') as unknown as JSONWebKeySet;
  const { access_token, id_token } = exampleOf('CodeGrantTokens') as Record<string, string>;
  const tokens = [...new Set(JSON.stringify(signOn).match(/eyJ[\w-]+\.[\w-]+\.[\w-]{40,}/g))];
  const currentDate = new Date('2026-06-30T11:30:00Z');

  test('name each key by its thumbprint', async () => {
    const names = await Promise.all(keySet.keys.map((key) => calculateJwkThumbprint(key)));
    expect(keySet.keys.map(({ kid }) => kid)).toEqual(names);
    expect(at(signOn, '/components/schemas/Jwk/properties/kid/examples')).toEqual([names[0]]);
  });

  test('sign all tokens with these keys, and hash the access token in the ID token', async () => {
    expect(tokens.sort()).toEqual([access_token, id_token].sort());
    const verify = (token = '') => jwtVerify(token, createLocalJWKSet(keySet), { currentDate });
    expect((await verify(access_token)).payload.jti).toMatch(/^[0-9A-Za-z]{22}$/);
    const hash = createHash('sha256').update(String(access_token)).digest();
    expect((await verify(id_token)).payload.at_hash).toBe(hash.subarray(0, 16).toString('base64url'));
  });

  test('write a cookie and a tag as the service does', () => {
    const cookie = at(signOn, '/components/headers/SetCookie/example') as string;
    const [, name = '', value = ''] = /^([^=]+)=([^;]+)/.exec(cookie) ?? [];
    expect(cookie).toBe(setCookie(name, value, { secure: true }));
    const tags = at(signOn, '/components/parameters/IfNoneMatch/schema/examples');
    expect(tags).toEqual([at(signOn, '/components/headers/ETag/example')]);
    expect(tags).toEqual([expect.stringMatching(/^"[\w-]{22}"$/)]);
  });
});

test('the ids of roles in the examples have the form of those that the service makes', () => {
  const roles = contracts.flatMap(({ root }) =>
    [...JSON.stringify(root).matchAll(/"role":\{"id":"([^"]*)"/g)].map(([, id]) => id),
  );
  const schema = at(fileNamed('directory.yaml').root, '/components/schemas/UserRole/properties/id/examples');
  expect(roles.length).toBeGreaterThan(3);
  for (const id of [...roles, ...(schema as string[])]) {
    expect(id).toMatch(/^[0-9A-Za-z]{22}$/);
  }
});

function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}

function example(type: string): string {
  return `/components/messages/${type}/examples/0`;
}

function examplesOf(message: Json): { headers: JsonObject; payload: JsonObject }[] {
  const examples = isObject(message) && Array.isArray(message.examples) ? message.examples : [];
  return examples as { headers: JsonObject; payload: JsonObject }[];
}

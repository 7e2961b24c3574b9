import { describe, expect, test } from '@jest/globals';
import type { Gatekeeper } from '../../../src/domain/access/gatekeeper.js';
import { isKnown, type KnownVersions } from '../../../src/domain/directory/answer.js';
import { listInstanceIntegrations } from '../../../src/domain/directory/instance-integrations.js';

const visitor = {
  integrationId: 'itg_1',
  version: 'now',
  apiKeyId: 'key_1',
  rateLimit: { limit: 1, remaining: 0, resetSeconds: 1 },
} as const;

const row = {
  id: 'iin_1',
  instanceId: 'ins_1',
  instanceName: 'Harborlight',
  createdAt: 1,
  updatedAt: 2,
} as const;

async function list(known: KnownVersions, admit: Gatekeeper['admit'] = async () => visitor) {
  const reads: string[] = [];
  const store = {
    listOf: async (integrationId: string) => {
      reads.push(integrationId);
      return [row];
    },
  };
  const answer = listInstanceIntegrations({ admit } as Gatekeeper, store, {
    keyHash: new Uint8Array(),
    known,
  });
  return { answer: await answer.catch((error: unknown) => error), reads };
}

describe('a version', () => {
  test.each<{ title: string; known: KnownVersions; expected: boolean }>([
    { title: 'nothing is held', known: { values: [], any: false }, expected: false },
    { title: 'it is held', known: { values: ['now'], any: false }, expected: true },
    { title: 'it is one of several', known: { values: ['old', 'now'], any: false }, expected: true },
    { title: 'others are held', known: { values: ['old', 'NOW', 'now '], any: false }, expected: false },
    { title: 'any will do', known: { values: [], any: true }, expected: true },
  ])('is known when $title: $expected', ({ known, expected }) => {
    expect(isKnown('now', known)).toBe(expected);
  });
});

describe('the list of instance integrations', () => {
  test('is read for the integration that the key belongs to', async () => {
    const { answer, reads } = await list({ values: ['old'], any: false });
    expect(answer).toEqual({ visitor, content: [row] });
    expect(reads).toEqual(['itg_1']);
  });

  test.each<KnownVersions>([
    { values: ['now'], any: false },
    { values: [], any: true },
  ])('is not read when its version is known: %j', async (known) => {
    const { answer, reads } = await list(known);
    expect(answer).toEqual({ visitor, content: undefined });
    expect(reads).toEqual([]);
  });

  test('is not read for who is refused, whatever they hold', async () => {
    const refusal = new Error('refused');
    const { answer, reads } = await list({ values: [], any: true }, () => Promise.reject(refusal));
    expect(answer).toBe(refusal);
    expect(reads).toEqual([]);
  });
});

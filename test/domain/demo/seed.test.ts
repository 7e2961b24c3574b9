import { describe, expect, test } from '@jest/globals';
import { publicIdPrefixes } from '../../../generated/ids.js';
import { demoSeed } from '../../../src/domain/demo/seed.js';

const connections = demoSeed.integrations.flatMap((integration) => integration.connections);

describe('the demo seed', () => {
  test('has the ids that examples and scripts rely on', () => {
    expect({
      instances: demoSeed.instances.map(({ id, name }) => `${id} ${name}`),
      integrations: demoSeed.integrations.map(({ id, name }) => `${id} ${name}`),
      connections: connections.map(({ id }) => id),
    }).toEqual({
      instances: [
        'ins_vdEuuQDfrSrK4NDsaZQYoj Harborlight Payroll',
        'ins_HJDuaiJeM6MA4aXYdNxKEO Juniper People',
      ],
      integrations: [
        'itg_2PWX4Btvdw5AjTgjNfYAz6 Brightledger Accounting',
        'itg_zcLck3Opj5sBo2PhOJ8RXi Shiftwise Rostering',
      ],
      connections: ['iin_yzkft4RLpmE4w1dmj3bbnj', 'iin_gmaZPd4ZAFghUzqhi7jEOQ', 'iin_9E8JKZC1OQTYueJBu0WWKf'],
    });
  });

  test.each([
    { kind: 'InstanceId', ids: demoSeed.instances.map(({ id }) => id) },
    { kind: 'IntegrationId', ids: demoSeed.integrations.map(({ id }) => id) },
    { kind: 'InstanceIntegrationId', ids: connections.map(({ id }) => id) },
  ] as const)('has valid public ids of kind $kind, each once', ({ kind, ids }) => {
    for (const id of ids) {
      expect(id).toMatch(new RegExp(`^${publicIdPrefixes[kind]}_[0-9A-Za-z]{22}$`));
    }
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('has two integrations that do not see the same instances', () => {
    expect(demoSeed.integrations).toHaveLength(2);
    const seen = demoSeed.integrations.map(({ connections }) =>
      connections.map(({ instance }) => instance).sort(),
    );
    expect(seen[0]).not.toEqual(seen[1]);
  });

  test('has one connection that is not set up, and one at least that is for each integration', () => {
    expect(connections.filter(({ configured }) => !configured)).toHaveLength(1);
    for (const integration of demoSeed.integrations) {
      expect(integration.connections.some(({ configured }) => configured)).toBe(true);
    }
  });

  test('connects only instances that it has', () => {
    const instances = demoSeed.instances.map(({ id }) => id);
    for (const { instance } of connections) {
      expect(instances).toContain(instance);
    }
  });
});

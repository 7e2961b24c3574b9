import { expect, test } from '@jest/globals';
import { createApiKey } from '../../../../src/domain/operator/api-keys.js';
import type { AuditFilter } from '../../../../src/domain/operator/audit.js';
import { validateAuditFilter } from '../../../../src/domain/operator/audit.js';
import { updateIntegration } from '../../../../src/domain/operator/integrations.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { OPERATOR, operatorRig, refusal } from './rig.js';

describeEachDatabase('the audit log', (under) => {
  async function rigWithHistory() {
    const rig = await operatorRig(under);
    const startedAt = rig.clock.now();
    const { id: integrationId } = await rig.newIntegration();
    rig.clock.advance(10);
    const { apiKey } = await rig.run((changes) =>
      createApiKey(changes, 'demo', { integrationId, label: 'Nightly' }),
    );
    rig.clock.advance(10);
    await rig.run((changes) => updateIntegration(changes, { integrationId, name: 'Other' }));
    const typesOf = async (filter: Partial<AuditFilter>) => {
      const page = { after: undefined, limit: 10 };
      return (await rig.rows.auditEvents.page(page, { types: [], ...filter })).map(({ type }) => type);
    };
    return { ...rig, startedAt, integrationId, apiKey, typesOf };
  }

  test('an event has actor, action, subject, time, call and network address', async () => {
    const { rows, apiKey, integrationId, startedAt } = await rigWithHistory();
    const page = { after: undefined, limit: 10 };
    const [event] = await rows.auditEvents.page(page, { types: ['api_key.created'] });
    expect(event).toEqual({
      id: expect.stringMatching(/^aud_\w{22}$/),
      createdAt: startedAt + 10,
      type: 'api_key.created',
      outcome: 'succeeded',
      actor: { type: OPERATOR.type, id: OPERATOR.id },
      subject: { type: 'api_key', id: apiKey.id },
      requestId: OPERATOR.requestId,
      remoteAddress: OPERATOR.remoteAddress,
      attributes: { integration_id: integrationId },
    });
  });

  test('it is read newest first, by time, type, party and outcome', async () => {
    const { typesOf, startedAt, integrationId } = await rigWithHistory();
    const all = ['integration.updated', 'api_key.created', 'integration.created'];
    await expect(typesOf({})).resolves.toEqual(all);
    await expect(typesOf({ since: startedAt + 10 })).resolves.toEqual(all.slice(0, 2));
    await expect(typesOf({ until: startedAt + 10 })).resolves.toEqual(all.slice(2));
    await expect(typesOf({ types: ['integration.*'] })).resolves.toEqual([all[0], all[2]]);
    await expect(typesOf({ types: ['integration.created', 'api_key.*'] })).resolves.toEqual(all.slice(1));
    await expect(typesOf({ types: ['integratio.*'] })).resolves.toEqual([]);
    await expect(typesOf({ partyId: integrationId })).resolves.toEqual([all[0], all[2]]);
    await expect(typesOf({ partyId: OPERATOR.id })).resolves.toEqual(all);
    await expect(typesOf({ outcome: 'refused' })).resolves.toEqual([]);
  });

  test('a change that fails leaves no event', async () => {
    const { run, integrationId, typesOf } = await rigWithHistory();
    const failing = run(async (changes) => {
      await updateIntegration(changes, { integrationId, name: 'Never' });
      throw new Error('cut off');
    });
    await expect(failing).rejects.toThrow('cut off');
    await expect(typesOf({})).resolves.toHaveLength(3);
  });
});

test.each([
  ['a type of strange characters', { types: ['a%'] }, 'types[0]'],
  ['a star by itself', { types: ['*'] }, 'types[0]'],
  ['a beginning that is no time', { types: [], since: Number.NaN }, 'since'],
  ['an end that is no time', { types: [], until: Number.NaN }, 'until'],
  ['a span that ends before it begins', { types: [], since: 2, until: 2 }, 'until'],
])('%s is no filter', async (_, filter, path) => {
  await expect(refusal((async () => validateAuditFilter(filter))())).resolves.toEqual({
    code: 'INVALID_REQUEST',
    paths: [path],
  });
});

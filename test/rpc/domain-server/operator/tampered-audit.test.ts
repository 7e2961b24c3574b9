import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { AuditFault, AuditOutcome } from '../../../../generated/proto/integration/operator/v1/audit.js';
import { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import type { AuditMac } from '../../../../src/domain/operator/audit-chain.js';
import { operatorService } from '../../../../src/rpc/domain-server/operator/index.js';
import type { OperatorDependencies } from '../../../../src/rpc/domain-server/operator/write.js';
import { withAuditChains } from '../../../../src/store/adapters/operator/audit-chains.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { rpcRigs } from '../../rig.js';

const mac: AuditMac = (bytes) => createHmac('sha256', 'key').update(bytes).digest();
const CHANGED = { fault: AuditFault.CHANGED, toSeq: 2 };
const options = { requestId: 'request-1', deadlineMs: 20_000 };

describeEachDatabase('a tampered audit log', (under) => {
  const rigs = rpcRigs();

  test.each([
    ['attributes that are no JSON', { attributes: 'x' }, CHANGED],
    ['attributes that are another thing', { attributes: 'null' }, CHANGED],
    ['attributes that hold another thing', { attributes: '{"a":{"b":1}}' }, CHANGED],
    ['a time that no clock shows', { created_at: 9_000_000_000_000_000 }, CHANGED],
    ['an outcome that there is not', { outcome: 'maybe' as 'refused' }, CHANGED],
    [
      'a place beyond all numbers of messages',
      { seq: 5_000_000_000 },
      { fault: AuditFault.MISSING, toSeq: 4_294_967_295 },
    ],
    ['no place', { seq: null }, { fault: AuditFault.CHANGED, toSeq: 0 }],
    ['a place before the first', { seq: -1 }, { fault: AuditFault.CHANGED, toSeq: 0 }],
  ])('is read and verified although a record has %s', async (_, tampering, finding) => {
    const bare = await under.openMigrated();
    const unitOfWork = operatorUnitOfWork({ ...withAuditChains(bare, () => mac), clock: () => 1_000 });
    for (const id of ['a', 'b']) {
      await unitOfWork.run((changes) =>
        changes.audit(
          { type: 'service_token', id: 'tok_1' },
          { type: 'unit.updated', subject: { type: 'unit', id } },
        ),
      );
    }
    await bare.write((writer) =>
      writer.updateTable('audit_events').set(tampering).where('subject_id', '=', 'b').execute(),
    );
    const service = operatorService({ unitOfWork, auditMac: mac } as unknown as OperatorDependencies);
    const rig = await rigs.start([service], {
      authenticate: () => ({ caller: 'auditor', tokenId: 'tok_2' }),
    });
    const client = rig.channel('any').clientOf(OperatorServiceService);

    const { auditEvents } = await client.listAuditEvents(
      { types: [], outcome: AuditOutcome.UNSPECIFIED, pageSize: 10, pageToken: '' },
      options,
    );
    expect(auditEvents.map(({ subject }) => subject?.id).sort()).toEqual(['a', 'b']);
    let exported = 0;
    for (let pageToken: string | undefined = ''; pageToken !== undefined; ) {
      const page = await client.listAuditRecords({ pageSize: 10, pageToken }, options);
      exported += page.records.length;
      pageToken = page.nextPageToken || undefined;
    }
    expect(exported).toBe(2);
    const findings = [];
    for await (const part of client.verifyAuditLog({}, options)) {
      findings.push(...part.findings);
    }
    expect(findings).toContainEqual(expect.objectContaining(finding));
  });
});

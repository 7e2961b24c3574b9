import { expect } from '@jest/globals';
import type { AuditMac } from '../../../../src/domain/operator/audit-chain.js';
import { type AuditFinding, verifyAuditLog } from '../../../../src/domain/operator/audit-verification.js';
import { auditRows } from '../../../../src/store/adapters/operator/audit-events.js';
import type { Reader } from '../../../../src/store/database.js';

/** What a verification of the whole audit log finds. */
export async function auditFindings(reader: Reader, mac: AuditMac): Promise<AuditFinding[]> {
  const findings: AuditFinding[] = [];
  let isDone = false;
  for await (const part of verifyAuditLog(auditRows(reader), mac, new AbortController().signal)) {
    findings.push(...part.findings);
    isDone = part.done;
  }
  expect(isDone).toBe(true);
  return findings;
}

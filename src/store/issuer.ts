import type { Actor } from '../domain/operator/audit.js';
import { auditAction } from './adapters/operator/audit-events.js';
import type { Database, Reader } from './database.js';
import { StoreError } from './store-error.js';

const AT_START: Actor = { type: 'service', id: 'start' };

export interface IssuerClaim {
  issuer: string;
  /** The recorded issuer that this one may replace. */
  replaces?: string | undefined;
  /** In a demo, whose applications are its own. */
  replacesAny?: boolean;
}

/** Why the settings do not fit the recorded issuer; undefined if they do. */
export function issuerProblem(
  recorded: string | null,
  { issuer, replaces, replacesAny }: IssuerClaim,
): string | undefined {
  const isUsable =
    replacesAny || recorded === null || [issuer, replaces].includes(recorded) || isOfThisMachine(recorded);
  return isUsable
    ? undefined
    : `The database belongs to the issuer ${recorded}, and SIGN_ON_URL is ${issuer}: applications would refuse its tokens. Set SIGN_ON_URL to ${recorded}, or PREVIOUS_SIGN_ON_URL=${recorded} to replace it.`;
}

/** Records the issuer of this start; refuses a database of another issuer. */
export async function claimIssuer(database: Database, claim: IssuerClaim): Promise<void> {
  const recorded = await recordedIssuer(database.reader);
  refuseOther(recorded, claim);
  if (recorded === claim.issuer) {
    return;
  }
  const winner = await database.write(async (writer) => {
    const { numUpdatedRows } = await writer
      .updateTable('environment')
      .set({ issuer: claim.issuer })
      // Of nodes that start at once with different issuers, one wins.
      .where('issuer', recorded === null ? 'is' : '=', recorded)
      .executeTakeFirstOrThrow();
    if (recorded !== null && numUpdatedRows > 0n) {
      await auditAction(writer, database.clock(), AT_START, {
        type: 'issuer.replaced',
        subject: { type: 'database', id: 'issuer' },
        attributes: { from: recorded, to: claim.issuer },
      });
    }
    return recordedIssuer(writer);
  });
  if (winner !== claim.issuer) {
    throw new StoreError(
      `Another node has just started with the issuer ${winner}, and SIGN_ON_URL is ${claim.issuer}.`,
    );
  }
}

async function recordedIssuer(reader: Reader): Promise<string | null> {
  const row = await reader.selectFrom('environment').select('issuer').executeTakeFirstOrThrow();
  return row.issuer;
}

/** Throws unless the settings fit the recorded issuer. */
export function refuseOther(recorded: string | null, claim: IssuerClaim): void {
  const problem = issuerProblem(recorded, claim);
  if (problem !== undefined) {
    throw new StoreError(problem);
  }
}

/** Only this machine can reach such an issuer, so that a change breaks no application elsewhere. */
export function isOfThisMachine(issuer: string): boolean {
  const { hostname } = new URL(issuer);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.[\d.]+$/.test(hostname);
}

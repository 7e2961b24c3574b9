import type { CallAudit } from '../../src/rpc/call-audit.js';

/** For servers under test whose audit log nobody reads. */
export const unheardAudit: CallAudit = { observe: () => undefined, record: async () => undefined };

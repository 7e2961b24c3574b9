import type { CallAudit } from '../../src/rpc/call-audit.js';

/** Discards the audit log, for servers under test. */
export const unheardAudit: CallAudit = { observe: () => undefined, audit: async () => undefined };

import type { Config } from '../config/config.js';
import type { Retention } from '../domain/maintenance/purge.js';

export function retentionOf(config: Config): Retention {
  return {
    credentialsMs: config.API_KEY_RETENTION,
    sessionIdleMs: config.SESSION_IDLE_LIMIT,
    auditMs: config.AUDIT_RETENTION,
    idempotencyMs: config.IDEMPOTENCY_RETENTION,
    eventsMs: config.EVENT_RETENTION,
  };
}

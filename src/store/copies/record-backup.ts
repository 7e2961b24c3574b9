import type { Actor } from '../../domain/operator/audit.js';
import { auditAction } from '../adapters/operator/audit-events.js';
import type { OpenedDatabase } from './open-copy.js';

export async function recordBackup(
  { write }: Pick<OpenedDatabase, 'write'>,
  actor: Actor,
  now: number,
  folder: string,
): Promise<void> {
  await write((writer) =>
    auditAction(writer, now, actor, {
      type: 'database.backed_up',
      subject: { type: 'database', id: 'copy' },
      attributes: { folder },
    }),
  );
}

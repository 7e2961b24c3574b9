import { newVersion } from '../../../../domain/version.js';
import type { ReceiverHealth, SendingChanges } from '../../../../domain/webhooks/sending/sending.js';
import type { DisabledReason } from '../../../../domain/webhooks/subscriptions/subscription.js';
import { camelCased } from '../../../camel-case.js';
import type { Writer } from '../../../database.js';
import { inList } from '../../statements/dialect.js';
import { changedOne, keptStatement, posted } from '../../statements/kept-statement.js';
import { holdPending } from '../subscriptions/deliveries.js';

const healthOf = keptStatement((db, { ids }: { ids: string }) =>
  db
    .selectFrom('subscriptions')
    .where(inList(db, 'id', ids))
    .orderBy('id')
    .select([
      'id',
      'last_success_at as lastSuccessAt',
      'failing_since as failingSince',
      'updated_at as updatedAt',
    ]),
);

const healthNote = posted((db, { id, ...health }: Omit<ReceiverHealth, 'updatedAt'>) =>
  db.updateTable('subscriptions').set(health).where('id', '=', id),
);

const disabling = keptStatement(
  (db, row: { id: string; reason: DisabledReason; now: number; version: string }) =>
    db
      .updateTable('subscriptions')
      .set({
        status: 'DISABLED',
        disabled_reason: row.reason,
        disabled_at: row.now,
        version: row.version,
        updated_at: row.now,
      })
      .where('id', '=', row.id)
      .where('status', '=', 'ACTIVE'),
);

export function receiverHealth(
  db: Writer,
  now: number,
): Pick<SendingChanges, 'healthOf' | 'noteHealth' | 'disable'> {
  return {
    healthOf: async (ids) => (await healthOf(db, { ids: JSON.stringify(ids) })).rows as ReceiverHealth[],
    noteHealth: ({ id, lastSuccessAt, failingSince }) =>
      healthNote(camelCased(db), { id, lastSuccessAt, failingSince }),
    disable: async (id, reason) => {
      const disabled = changedOne(await disabling(db, { id, reason, now, version: newVersion() }));
      if (disabled) {
        await holdPending(db, id);
      }
      return disabled;
    },
  };
}

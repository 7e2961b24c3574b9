import { sql } from 'kysely';
import type { Delivery, DeliveryAttempt } from '../../../../domain/webhooks/deliveries.js';
import type { LogEntry, LogEntryRows } from '../../../../domain/webhooks/logs/log-entries.js';
import { camelCased, type Tables } from '../../../camel-case.js';
import type { Writer } from '../../../database.js';
import { inNumbers } from '../../statements/dialect.js';
import { keptStatement } from '../../statements/kept-statement.js';
import { placeIn } from './conditions.js';

type Behind = Record<'at' | 'deliverySeq' | 'attemptNumber' | 'to' | 'limit', number>;

/** Each half goes by its own index. */
const happened = keptStatement((db, { at, deliverySeq, attemptNumber, to, limit }: Behind) => {
  const place = sql.ref(placeIn(db));
  return sql<LogEntry>`
    select * from (
      select created_at as at, seq as "deliverySeq", 0 as "attemptNumber" from deliveries
      where (created_at, ${place}) > (${at}, ${deliverySeq}) and created_at <= ${to}
      order by created_at, ${place} limit ${limit}
    ) as made
    union all
    select * from (
      select ended_at, delivery_seq, number from delivery_attempts
      where (ended_at, delivery_seq, number) > (${at}, ${deliverySeq}, ${attemptNumber}) and ended_at <= ${to}
      order by ended_at, delivery_seq, number limit ${limit}
    ) as ended
    order by 1, 2, 3 limit ${limit}
  `;
});

export function logEntryRows(db: Writer): LogEntryRows {
  return {
    happenedIn: async ({ from, to }, after = { at: from, deliverySeq: 0, attemptNumber: 0 }, limit) =>
      (await happened(db, { ...after, to, limit })).rows,
    findAll: async (seqs) => {
      const found = deliveriesIn(db).where(inNumbers(db, 'deliveries.seq', JSON.stringify(seqs)));
      const rows = seqs.length === 0 ? [] : await found.execute();
      return new Map(rows.map((delivery) => [delivery.seq, delivery]));
    },
    attemptsOfAll: async (seqs) => {
      const found = camelCased(db)
        .selectFrom('deliveryAttempts')
        .where(inNumbers(db, 'deliverySeq', JSON.stringify(seqs)))
        .selectAll();
      const attempts = new Map<number, DeliveryAttempt[]>();
      for (const row of seqs.length === 0 ? [] : await found.execute()) {
        const seq = row.deliverySeq;
        attempts.set(seq, [...(attempts.get(seq) ?? []), toAttempt(row)]);
      }
      return attempts;
    },
  };
}

/** With its place in the log. */
export type PlacedDelivery = Delivery & { seq: number };

type Ids = Pick<Delivery, 'id' | 'subscriptionId' | 'instanceIntegrationId' | 'eventId'>;

/** Deliveries with fields of their subscription, which outlives them. */
export function deliveriesIn(db: Writer) {
  return camelCased(db)
    .selectFrom('deliveries')
    .innerJoin('subscriptions', 'subscriptions.id', 'deliveries.subscriptionId')
    .selectAll('deliveries')
    .select('subscriptions.instanceIntegrationId')
    .$narrowType<Ids>();
}

export function toAttempt(row: Tables['deliveryAttempts']): DeliveryAttempt {
  const { deliverySeq: _, responseStart, ...attempt } = row;
  return { ...attempt, responseStart: responseStart === null ? null : Buffer.from(responseStart, 'base64') };
}

import { sql } from 'kysely';
import type { Delivery, DeliveryAttempt } from '../../../../domain/webhooks/deliveries.js';
import type { LogEntryRows } from '../../../../domain/webhooks/logs/log-entries.js';
import { camelCased, type Tables } from '../../../camel-case.js';
import type { Writer } from '../../../database.js';
import { statement } from '../../statements/kept-statement.js';
import { placeIn } from './conditions.js';

type MadeBehind = Record<'createdAt' | 'seq' | 'to' | 'limit', number>;

const made = statement((db, { createdAt, seq, to, limit }: MadeBehind) =>
  db
    .selectFrom('deliveries')
    .where(sql<boolean>`(created_at, ${sql.ref(placeIn(db))}) > (${createdAt}, ${seq})`)
    .where('createdAt', '<=', to)
    .orderBy('createdAt')
    .orderBy(placeIn(db))
    .limit(limit)
    .select(['seq as deliverySeq', 'createdAt as at']),
);

type EndedBehind = Record<'endedAt' | 'deliverySeq' | 'number' | 'to' | 'limit', number>;

const ended = statement((db, { endedAt, deliverySeq, number, to, limit }: EndedBehind) =>
  db
    .selectFrom('deliveryAttempts')
    .where(sql<boolean>`(ended_at, delivery_seq, number) > (${endedAt}, ${deliverySeq}, ${number})`)
    .where('endedAt', '<=', to)
    .orderBy('endedAt')
    .orderBy('deliverySeq')
    .orderBy('number')
    .limit(limit)
    .select(['endedAt as at', 'deliverySeq', 'number as attemptNumber']),
);

export function logEntryRows(db: Writer): LogEntryRows {
  return {
    madeIn: async ({ from, to }, after, limit) => {
      const { rows } = await made(camelCased(db), {
        createdAt: after?.at ?? from,
        seq: after?.deliverySeq ?? 0,
        to,
        limit,
      });
      return rows.map((row) => ({ ...row, attemptNumber: null }));
    },
    endedIn: async ({ from, to }, after, limit) => {
      const { rows } = await ended(camelCased(db), {
        endedAt: after?.at ?? from,
        deliverySeq: after?.deliverySeq ?? 0,
        number: after?.attemptNumber ?? 0,
        to,
        limit,
      });
      return rows;
    },
    findAll: async (seqs) => {
      const rows = await inBlocks(seqs, (block) =>
        deliveriesIn(db).where('deliveries.seq', 'in', block).execute(),
      );
      return new Map(rows.map((delivery) => [delivery.seq, delivery]));
    },
    attemptsOfAll: async (seqs) => {
      const rows = await inBlocks(seqs, (block) =>
        camelCased(db).selectFrom('deliveryAttempts').where('deliverySeq', 'in', block).selectAll().execute(),
      );
      const attempts = new Map<number, DeliveryAttempt[]>();
      for (const row of rows) {
        const seq = row.deliverySeq;
        attempts.set(seq, [...(attempts.get(seq) ?? []), toAttempt(row)]);
      }
      return attempts;
    },
  };
}

const BLOCK = 50;

/** Pads the last block with its last number, so that one prepared statement serves all. */
async function inBlocks<Row>(
  seqs: readonly number[],
  read: (block: readonly number[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let from = 0; from < seqs.length; from += BLOCK) {
    const block = seqs.slice(from, from + BLOCK);
    const last = block.at(-1) as number;
    rows.push(...(await read([...block, ...Array<number>(BLOCK - block.length).fill(last)])));
  }
  return rows;
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

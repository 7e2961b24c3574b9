import { sql } from 'kysely';
import type { DeliveryId } from '../../../../generated/ids.js';
import type { DeliveryAttempt } from '../../../domain/webhooks/deliveries.js';
import type { HappeningRows } from '../../../domain/webhooks/happenings.js';
import type { Writer } from '../../database.js';
import { keptStatement } from '../kept-statement.js';
import { deliveriesIn, toAttempt, toDelivery } from './delivery-rows.js';
import { deliveryIdsFrom } from './log-conditions.js';

const made = keptStatement((db, { after, before, limit }: { after: string; before: string; limit: number }) =>
  db
    .selectFrom('deliveries')
    .where('id', '>', after)
    .where('id', '<', before)
    .orderBy('id')
    .limit(limit)
    .select(['id', 'created_at']),
);

interface EndedBehind {
  endedAt: number;
  deliveryId: string;
  number: number;
  to: number;
  limit: number;
}

const ended = keptStatement((db, { endedAt, deliveryId, number, to, limit }: EndedBehind) =>
  db
    .selectFrom('delivery_attempts')
    .where(sql<boolean>`(ended_at, delivery_id, number) > (${endedAt}, ${deliveryId}, ${number})`)
    .where('ended_at', '<=', to)
    .orderBy('ended_at')
    .orderBy('delivery_id')
    .orderBy('number')
    .limit(limit)
    .select(['ended_at', 'delivery_id', 'number']),
);

export function happeningRows(db: Writer): HappeningRows {
  return {
    madeIn: async ({ from, to }, after, limit) => {
      const { rows } = await made(db, {
        after: after?.deliveryId ?? deliveryIdsFrom(from),
        before: deliveryIdsFrom(to + 1),
        limit,
      });
      return rows.map(({ id, created_at }) => ({
        at: created_at,
        deliveryId: id as DeliveryId,
        attemptNumber: null,
      }));
    },
    endedIn: async ({ from, to }, after, limit) => {
      const { rows } = await ended(db, {
        endedAt: after?.at ?? from,
        deliveryId: after?.deliveryId ?? '',
        number: after?.attemptNumber ?? 0,
        to,
        limit,
      });
      return rows.map(({ ended_at, delivery_id, number }) => ({
        at: ended_at,
        deliveryId: delivery_id as DeliveryId,
        attemptNumber: number,
      }));
    },
    findAll: async (ids) => {
      const rows = await inBlocks(ids, (block) =>
        deliveriesIn(db).where('deliveries.id', 'in', block).execute(),
      );
      return new Map(rows.map(toDelivery).map((delivery) => [delivery.id, delivery]));
    },
    attemptsOfAll: async (ids) => {
      const rows = await inBlocks(ids, (block) =>
        db.selectFrom('delivery_attempts').where('delivery_id', 'in', block).selectAll().execute(),
      );
      const attempts = new Map<DeliveryId, DeliveryAttempt[]>();
      for (const row of rows) {
        const id = row.delivery_id as DeliveryId;
        attempts.set(id, [...(attempts.get(id) ?? []), toAttempt(row)]);
      }
      return attempts;
    },
  };
}

const BLOCK = 50;

/** Always as many ids in a statement, the last one again and again, so that there is one text of it to prepare. */
async function inBlocks<Row>(
  ids: readonly string[],
  read: (block: readonly string[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let from = 0; from < ids.length; from += BLOCK) {
    const block = ids.slice(from, from + BLOCK);
    const last = block.at(-1) as string;
    rows.push(...(await read([...block, ...Array<string>(BLOCK - block.length).fill(last)])));
  }
  return rows;
}

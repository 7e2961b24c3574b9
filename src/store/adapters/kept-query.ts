import type { Compilable } from 'kysely';
import type { PageRequest } from '../../domain/directory/page.js';
import type { Reader } from '../database.js';
import { keptStatement } from './kept-statement.js';

/** `keptStatement` for a read of committed data, its values in a row instead of by name. */
export function keptQuery<Values extends readonly (string | number)[], Row>(
  reader: Reader,
  build: (...values: Values) => Compilable<Row>,
): (...values: Values) => Promise<Row[]> {
  // Whole numbers as names stand in their order.
  const query = keptStatement((_, byPosition: Record<number, string | number>) =>
    build(...(Object.values(byPosition) as unknown as Values)),
  );
  return async (...values) => (await query(reader, { ...values })).rows;
}

/** The two reads of a list in the order of age: from its beginning, and behind a position. */
export function keptPages<Row>(
  reader: Reader,
  build: (ownerId: string, page: PageRequest) => Compilable<Row>,
): (ownerId: string, page: PageRequest) => Promise<Row[]> {
  const first = keptQuery(reader, (ownerId: string, limit: number) =>
    build(ownerId, { after: undefined, limit }),
  );
  const next = keptQuery(reader, (ownerId: string, createdAt: number, id: string, limit: number) =>
    build(ownerId, { after: { createdAt, id }, limit }),
  );
  return (ownerId, { after, limit }) =>
    after ? next(ownerId, after.createdAt, after.id, limit) : first(ownerId, limit);
}

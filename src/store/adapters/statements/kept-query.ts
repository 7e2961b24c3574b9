import type { Compilable } from 'kysely';
import type { JsonOf } from '../../../domain/directory/contract-json.js';
import type { PageRequest } from '../../../domain/directory/page.js';
import type { Rows } from '../../camel-case.js';
import { statement } from './kept-statement.js';

/** `statement` for a read of committed data, with values by position. */
export function keptQuery<Values extends readonly (string | number)[], Row>(
  reader: Rows,
  build: (...values: Values) => Compilable<Row>,
): (...values: Values) => Promise<Row[]> {
  // Whole numbers as names keep their order.
  const query = statement((_, byPosition: Record<number, string | number>) =>
    build(...(Object.values(byPosition) as unknown as Values)),
  );
  return async (...values) => (await query(reader, { ...values })).rows;
}

/** The two reads of a list by age: from its beginning, and after a position. */
export function keptPages<Row>(
  reader: Rows,
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

/** Of the only row, if there is one. */
export function onlyJson<Values extends readonly (string | number)[], T>(
  rows: (...values: Values) => Promise<{ json: JsonOf<T> }[]>,
): (...values: Values) => Promise<JsonOf<T> | undefined> {
  return async (...values) => (await rows(...values))[0]?.json;
}

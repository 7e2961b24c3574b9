import type { JsonOf } from '../../../src/domain/directory/contract-json.js';
import type { Listed } from '../../../src/domain/directory/stores.js';

/** The value of a JSON text of the store. */
export async function valueIn<T>(read: Promise<JsonOf<T> | undefined>): Promise<T | undefined> {
  const json = await read;
  return json === undefined ? undefined : (JSON.parse(json) as T);
}

/** The values of the rows of a page. */
export async function valuesIn<T>(read: Promise<Listed<T>[]>): Promise<T[]> {
  return (await read).map(({ json }) => JSON.parse(json) as T);
}

/** The rows as a store lists them. */
export function listed(rows: readonly object[], createdAt: number): Listed<never>[] {
  return rows.map((row) => {
    const { id, userId } = row as { id?: string; userId?: string };
    return { id: id ?? userId ?? '', createdAt, json: JSON.stringify(row) as never };
  });
}

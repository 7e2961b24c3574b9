import type { Compilable, CompiledQuery } from 'kysely';
import type { PageRequest } from '../../domain/directory/page.js';
import type { Reader } from '../database.js';
import { executeCompiled } from '../dialects/direct-statements.js';

/** Stands for a value while the query is built. */
class Placeholder {
  constructor(readonly index: number) {}
}

/**
 * A read that is built once, when it is first asked for: putting the text together takes Kysely longer than the database needs to answer. `build` gets a placeholder
 * for each value and may do nothing with it but hand it on to Kysely.
 */
export function keptQuery<Values extends readonly (string | number)[], Row>(
  reader: Reader,
  build: (...values: Values) => Compilable<Row>,
): (...values: Values) => Promise<Row[]> {
  const compile = (): CompiledQuery<Row> => {
    const placeholders = Array.from({ length: build.length }, (_, index) => new Placeholder(index));
    return build(...(placeholders as unknown as Values)).compile();
  };
  let kept: CompiledQuery<Row> | undefined;
  return async (...values) => {
    kept ??= compile();
    const parameters = kept.parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.index] : parameter,
    );
    const { rows } = await executeCompiled(reader, kept, parameters);
    return rows;
  };
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

import type { Compilable, CompiledQuery, DialectAdapter, QueryResult } from 'kysely';
import type { Writer } from '../database.js';
import { executeCompiled } from '../dialects/direct-statements.js';

type Value = string | number | null;

/** Stands for a value while the statement is built. */
class Placeholder {
  constructor(readonly name: string) {}
}

/**
 * A statement whose text is built once for each database that it is run on, inside a transaction or not: putting it together takes Kysely longer than the database needs to
 * answer. `build` gets a placeholder for each value and may do nothing with it but hand it on to Kysely. Each call names the same values.
 */
export function keptStatement<Values extends { [Name in keyof Values]: Value }, Row>(
  build: (db: Writer, values: Values) => Compilable<Row>,
): (db: Writer, values: Values) => Promise<QueryResult<Row>> {
  const kept = new WeakMap<DialectAdapter, CompiledQuery<Row>>();
  const compiledFor = (db: Writer, values: Values) => {
    const { adapter } = db.getExecutor();
    const present = kept.get(adapter);
    if (present) {
      return present;
    }
    const names = Object.keys(values);
    const placeholders = Object.fromEntries(names.map((name) => [name, new Placeholder(name)]));
    const compiled = build(db, placeholders as unknown as Values).compile();
    kept.set(adapter, compiled);
    return compiled;
  };
  return (db, values) => {
    const compiled = compiledFor(db, values);
    const parameters = compiled.parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.name as keyof Values] : parameter,
    );
    return executeCompiled(db, compiled, parameters);
  };
}

/** Whether the statement found a row to change: what decides a race. */
export function changedOne({ numAffectedRows }: QueryResult<unknown>): boolean {
  return numAffectedRows === 1n;
}

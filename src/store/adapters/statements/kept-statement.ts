import {
  type CompiledQuery,
  type DialectAdapter,
  type QueryExecutorProvider,
  type QueryResult,
  type SelectQueryBuilder,
  sql,
} from 'kysely';
import type { JsonOf } from '../../../domain/directory/contract-json.js';
import type { Rows, Writer } from '../../database.js';
import { executeCompiled, postCompiled } from '../../dialects/direct-statements.js';
import { named } from '../../dialects/postgres/named-statements.js';
import { isPostgres } from './dialect.js';

type Value = string | number | null;

/** A query of Kysely, or raw SQL. */
interface Buildable<Row> {
  compile(db: QueryExecutorProvider): CompiledQuery<Row>;
}

/** Stands for a value while the statement is built. */
class Placeholder<Given> {
  constructor(readonly valueIn: (given: Given) => unknown) {}
}

/** Makes a placeholder for each member of `values`. `valuesIn` finds the values of a call in its argument. */
export function placeholders<Given, Values extends object>(
  values: Values,
  valuesIn: (given: Given) => Values,
): Values {
  const names = Object.keys(values) as (keyof Values)[];
  const made = names.map((name) => [name, new Placeholder((given: Given) => valuesIn(given)[name])]);
  return Object.fromEntries(made);
}

/**
 * A statement whose text is built once per database, because building takes Kysely longer than the database
 * needs to run it. `build` may only pass its placeholders on to Kysely. Each call names the same values.
 */
export function keep<Db extends Writer | Rows, Values extends object, Row, Answer>(
  build: (db: Db, values: Values) => Buildable<Row>,
  run: (db: Db, compiled: CompiledQuery<Row>, parameters: readonly unknown[]) => Promise<Answer>,
  prepared: typeof named<Row> = named,
  placeholdersFor = (values: Values): Values => placeholders(values, (given: Values) => given),
): (db: Db, values: Values) => Promise<Answer> {
  const kept = new WeakMap<DialectAdapter, CompiledQuery<Row>>();
  const compiledFor = (db: Db, values: Values) => {
    const { adapter } = db.getExecutor();
    const present = kept.get(adapter);
    if (present) {
      return present;
    }
    const compiled = prepared(build(db, placeholdersFor(values)).compile(db));
    kept.set(adapter, compiled);
    return compiled;
  };
  return (db, values) => {
    const compiled = compiledFor(db, values);
    const parameters = compiled.parameters.map((parameter) =>
      parameter instanceof Placeholder ? parameter.valueIn(values) : parameter,
    );
    return run(db, compiled, parameters);
  };
}

type Keep<Db> = <Values extends { [Name in keyof Values]: Value }, Row>(
  build: (db: Db, values: Values) => Buildable<Row>,
) => (db: Db, values: Values) => Promise<QueryResult<Row>>;

type KeepPosted<Db> = <Values extends { [Name in keyof Values]: Value }>(
  build: (db: Db, values: Values) => Buildable<unknown>,
) => (db: Db, values: Values) => Promise<void>;

/** In the spelling of the database. */
export const keptStatement: Keep<Writer> = (build) => keep(build, executeCompiled);

/** PostgreSQL plans it at each call: for searches whose best way depends on how many rows are due now. */
export const plannedStatement: Keep<Writer> = (build) => keep(build, executeCompiled, (query) => query);

/** In the spelling of the domain: on SQLite, names are mapped once for each statement. */
export const statement: Keep<Rows> = (build) => keep(build, executeCompiled);

/** The same for a change whose answer is not needed: PostgreSQL is not waited for, see `postCompiled`. */
export const keptPosted: KeepPosted<Writer> = (build) => keep(build, postCompiled);

export const posted: KeepPosted<Rows> = (build) => keep(build, postCompiled);

/** PostgreSQL answers the last statements of a transaction together with its commit. */
export async function withCommit<Answer>(
  db: Writer,
  answers: Promise<Answer>,
): Promise<() => Promise<Answer>> {
  if (!isPostgres(db)) {
    const present = await answers;
    return async () => present;
  }
  // Not lost: after a failed statement the commit fails too.
  answers.catch(() => undefined);
  return () => answers;
}

/** Whether the statement changed a row, which decides a race. */
export function changedOne({ numAffectedRows }: QueryResult<unknown>): boolean {
  return numAffectedRows === 1n;
}

export function changedRows({ numAffectedRows }: QueryResult<unknown>): number {
  return Number(numAffectedRows ?? 0);
}

/** Whether the query finds a row. */
export async function findsAny(query: {
  limit(most: number): { executeTakeFirst(): Promise<unknown> };
}): Promise<boolean> {
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

/** The number of rows that the query finds, no further than a limit. */
export async function counted<Db, Table extends keyof Db>(
  query: SelectQueryBuilder<Db, Table, object>,
  limit?: number,
): Promise<number> {
  if (limit !== undefined) {
    return (await query.select(sql.lit(1).as('one')).limit(limit).execute()).length;
  }
  const row = await query.select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow();
  return Number((row as { count: unknown }).count);
}

/** `statement` for a read of committed data, with values by position. */
export function keptQuery<Values extends readonly (string | number)[], Row>(
  reader: Rows,
  build: (...values: Values) => Buildable<Row>,
): (...values: Values) => Promise<Row[]> {
  // Whole numbers as names keep their order.
  const query = statement((_, byPosition: Record<number, string | number>) =>
    build(...(Object.values(byPosition) as unknown as Values)),
  );
  return async (...values) => (await query(reader, { ...values })).rows;
}

/** Of the only row, if there is one. */
export function onlyJson<Values extends readonly (string | number)[], T>(
  rows: (...values: Values) => Promise<{ json: JsonOf<T> }[]>,
): (...values: Values) => Promise<JsonOf<T> | undefined> {
  return async (...values) => (await rows(...values))[0]?.json;
}

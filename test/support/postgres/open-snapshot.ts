import pg from 'pg';

/** A transaction that does nothing, as that of a dump which reads other tables. Returns its end. */
export async function openSnapshot(databaseUrl: string): Promise<() => Promise<void>> {
  const holder = new pg.Client({ connectionString: databaseUrl });
  await holder.connect();
  await holder.query('begin isolation level repeatable read');
  await holder.query('select 1');
  return () => holder.end();
}

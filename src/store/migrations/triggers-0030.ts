/** A trigger of the step, in SQL that both databases take. */
export interface Trigger {
  name: string;
  table: string;
  event: string;
  when?: string;
  /** A query for the changed entities. */
  changed: string;
}

/** The only changed entity: that of the row. */
export const entity = (type: string, row: 'new' | 'old', removed = '0', id = 'id', client = 'client_id') =>
  `select '${type}' as entity_type, ${row}.${id} as entity_id, ${row}.${client} as client_id, ${removed} as removed`;

const OFFBOARDED = 'case when new.offboarded_at is null then 0 else 1 end';
export const DELETED = "case when new.status = 'DELETED' then 1 else 0 end";

const workers = (condition: string) =>
  `select 'worker' as entity_type, id as entity_id, client_id, 0 as removed from workers
    where offboarded_at is null and ${condition}`;

export const users = (condition: string) =>
  `select 'user' as entity_type, id as entity_id, client_id, 0 as removed from users
    where status <> 'DELETED' and ${condition}`;

const after = (event: string, table: string, name: string, changed: string): Trigger => ({
  name,
  table,
  event,
  changed,
});

/** For an entity that shows these columns of another row. */
const afterChange = (columns: string[], table: string, name: string, changed: string): Trigger => ({
  ...after(`update of ${columns.join(', ')}`, table, name, changed),
  when: columns.map((column) => `old.${column} is distinct from new.${column}`).join(' or '),
});

const client = entity('client', 'new', '0', 'id', 'id');

/** Rows that an entity is made of, and rows that entities show parts of. */
export const TRIGGERS: readonly Trigger[] = [
  after(
    'insert',
    'clients',
    'client_added',
    `${client} union all ${entity('jobTitles', 'new', '0', 'id', 'id')}`,
  ),
  after('update', 'clients', 'client_changed', client),
  after('insert', 'job_titles', 'job_title_added', entity('jobTitles', 'new', '0', 'client_id')),
  after('delete', 'job_titles', 'job_title_removed', entity('jobTitles', 'old', '0', 'client_id')),
  ...simple('unit_type', 'unit_types', 'unitType'),
  ...simple('unit', 'units', 'unit'),
  afterChange(
    ['name'],
    'units',
    'unit_renamed',
    workers('id in (select worker_id from worker_units where unit_id = new.id)'),
  ),
  ...simple('location', 'locations', 'location'),
  afterChange(['name'], 'locations', 'location_renamed', workers('location_id = new.id')),
  ...simple('worker', 'workers', 'worker', OFFBOARDED),
  ...simple('user', 'users', 'user', DELETED),
  afterChange(
    ['first_name', 'last_name', 'full_name'],
    'users',
    'manager_renamed',
    users('manager_id = new.id'),
  ),
  afterChange(
    ['email', 'contract_email'],
    'accounts',
    'account_readdressed',
    users(`(account_id = new.id
      or manager_id in (select id from users as manager where manager.account_id = new.id))`),
  ),
  afterChange(['name'], 'roles', 'role_renamed', users('role_id = new.id')),
];

/** The triggers of a migrated database. */
export const TRIGGER_PLACES: readonly Pick<Trigger, 'name' | 'table'>[] = [
  ...TRIGGERS.map(({ name, table }) => ({ name: `changes_${name}`, table })),
  // They keep the digests.
  { name: 'changes_counted', table: 'changes' },
  { name: 'changes_recounted', table: 'changes' },
];

function simple(name: string, table: string, type: string, removed = '0'): Trigger[] {
  return [
    after('insert', table, `${name}_added`, entity(type, 'new', removed)),
    after('update', table, `${name}_changed`, entity(type, 'new', removed)),
    after('delete', table, `${name}_removed`, entity(type, 'old', '1')),
  ];
}

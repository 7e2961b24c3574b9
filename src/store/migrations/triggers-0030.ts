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
const entity = (type: string, row: 'new' | 'old', removed = '0', id = 'id', client = 'client_id') =>
  `select '${type}' as entity_type, ${row}.${id} as entity_id, ${row}.${client} as client_id, ${removed} as removed`;

const OFFBOARDED = 'case when new.offboarded_at is null then 0 else 1 end';
const DELETED = "case when new.status = 'DELETED' then 1 else 0 end";

const workers = (condition: string) =>
  `select 'worker' as entity_type, id as entity_id, client_id, 0 as removed from workers
    where offboarded_at is null and ${condition}`;

const users = (condition: string) =>
  `select 'user' as entity_type, id as entity_id, client_id, 0 as removed from users
    where status <> 'DELETED' and ${condition}`;

const differs = (...columns: string[]) =>
  columns.map((column) => `old.${column} is distinct from new.${column}`).join(' or ');

/** Rows that an entity is made of, and rows that entities show parts of. */
export const TRIGGERS: readonly Trigger[] = [
  {
    name: 'client_added',
    table: 'clients',
    event: 'insert',
    changed: `${entity('client', 'new', '0', 'id', 'id')} union all ${entity('jobTitles', 'new', '0', 'id', 'id')}`,
  },
  {
    name: 'client_changed',
    table: 'clients',
    event: 'update',
    changed: entity('client', 'new', '0', 'id', 'id'),
  },
  {
    name: 'job_title_added',
    table: 'job_titles',
    event: 'insert',
    changed: entity('jobTitles', 'new', '0', 'client_id'),
  },
  {
    name: 'job_title_removed',
    table: 'job_titles',
    event: 'delete',
    changed: entity('jobTitles', 'old', '0', 'client_id'),
  },
  ...simple('unit_type', 'unit_types', 'unitType'),
  ...simple('unit', 'units', 'unit'),
  {
    name: 'unit_renamed',
    table: 'units',
    event: 'update of name',
    when: differs('name'),
    changed: workers('id in (select worker_id from worker_units where unit_id = new.id)'),
  },
  ...simple('location', 'locations', 'location'),
  {
    name: 'location_renamed',
    table: 'locations',
    event: 'update of name',
    when: differs('name'),
    changed: workers('location_id = new.id'),
  },
  ...simple('worker', 'workers', 'worker', OFFBOARDED),
  ...simple('user', 'users', 'user', DELETED),
  {
    name: 'manager_renamed',
    table: 'users',
    event: 'update of first_name, last_name, full_name',
    when: differs('first_name', 'last_name', 'full_name'),
    changed: users('manager_id = new.id'),
  },
  {
    name: 'account_readdressed',
    table: 'accounts',
    event: 'update of email, contract_email',
    when: differs('email', 'contract_email'),
    changed: users(`(account_id = new.id
      or manager_id in (select id from users as manager where manager.account_id = new.id))`),
  },
  {
    name: 'role_renamed',
    table: 'roles',
    event: 'update of name',
    when: differs('name'),
    changed: users('role_id = new.id'),
  },
];

function simple(name: string, table: string, type: string, removed = '0'): Trigger[] {
  return [
    { name: `${name}_added`, table, event: 'insert', changed: entity(type, 'new', removed) },
    { name: `${name}_changed`, table, event: 'update', changed: entity(type, 'new', removed) },
    { name: `${name}_removed`, table, event: 'delete', changed: entity(type, 'old', '1') },
  ];
}

import { script } from '../script.js';

/** Lists leave out deleted users and offboarded workers, of which a client has more each year. */
export const up = script(`
  create index users_present on users (client_id, created_at, id) where status <> 'DELETED';
  create index workers_active on workers (client_id, created_at, id) where offboarded_at is null;
`);

import { script } from '../script.js';

/** A load leaves out removed entities, of which an instance has more each year. */
export const up = script(`
  create index changes_present on changes (instance_id, position, entity_type, entity_id) where removed = 0
`);

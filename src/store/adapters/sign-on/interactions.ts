import type { InteractionRows } from '../../../domain/sign-on/interactions.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { changedOne, keptStatement } from '../kept-statement.js';

const byId = keptStatement((db, { id }: { id: string }) =>
  db.selectFrom('finished_interactions').where('id', '=', id).select('id'),
);

const ending = keptStatement((db, row: Schema['finished_interactions']) =>
  db
    .insertInto('finished_interactions')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing()),
);

export function interactionRows(db: Writer): InteractionRows {
  return {
    isFinished: async (id) => (await byId(db, { id })).rows.length > 0,
    finish: async ({ id, expiresAt }) => changedOne(await ending(db, { id, expires_at: expiresAt })),
  };
}

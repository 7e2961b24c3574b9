import type { InteractionRows } from '../../../domain/sign-on/interaction/interactions.js';
import { camelCased, type Tables } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { changedOne, statement } from '../statements/kept-statement.js';

const byId = statement((db, { id }: { id: string }) =>
  db.selectFrom('finishedInteractions').where('id', '=', id).select('id'),
);

const ending = statement((db, row: Tables['finishedInteractions']) =>
  db
    .insertInto('finishedInteractions')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing()),
);

export function interactionRows(writer: Writer): InteractionRows {
  const db = camelCased(writer);
  return {
    isFinished: async (id) => (await byId(db, { id })).rows.length > 0,
    finish: async ({ id, expiresAt }) => changedOne(await ending(db, { id, expiresAt })),
  };
}

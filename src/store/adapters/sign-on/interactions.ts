import type { Interaction, InteractionRows } from '../../../domain/sign-on/interactions.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { changedOne, keptStatement } from '../kept-statement.js';

type Row = Schema['interactions'];

const byHash = keptStatement((db, { hash }: { hash: string }) =>
  db.selectFrom('interactions').where('token_hash', '=', hash).selectAll(),
);

const insertion = keptStatement((db, row: Row) => db.insertInto('interactions').values(row));

const progression = keptStatement((db, { hash, progress }: { hash: string; progress: string }) =>
  db
    .updateTable('interactions')
    .set({ progress })
    .where('token_hash', '=', hash)
    .where('finished_at', 'is', null),
);

const ending = keptStatement((db, { hash, now }: { hash: string; now: number }) =>
  db
    .updateTable('interactions')
    .set({ finished_at: now })
    .where('token_hash', '=', hash)
    .where('finished_at', 'is', null)
    .where('expires_at', '>', now),
);

export function interactionRows(db: Writer): InteractionRows {
  return {
    find: async (tokenHash) => {
      const [row] = (await byHash(db, { hash: tokenHash })).rows;
      return row && toInteraction(row);
    },
    insert: async (interaction) => {
      await insertion(db, toRow(interaction));
    },
    update: async (tokenHash, progress) => {
      await progression(db, { hash: tokenHash, progress: JSON.stringify(progress) });
    },
    finish: async (tokenHash, now) => changedOne(await ending(db, { hash: tokenHash, now })),
  };
}

function toInteraction(row: Row): Interaction {
  return {
    tokenHash: row.token_hash,
    sessionId: row.session_id,
    request: JSON.parse(row.request),
    progress: JSON.parse(row.progress),
    expiresAt: row.expires_at,
    finishedAt: row.finished_at,
  };
}

function toRow(interaction: Interaction): Row {
  return {
    token_hash: interaction.tokenHash,
    session_id: interaction.sessionId,
    request: JSON.stringify(interaction.request),
    progress: JSON.stringify(interaction.progress),
    expires_at: interaction.expiresAt,
    finished_at: interaction.finishedAt,
  };
}

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Interaction, InteractionSeals } from '../domain/sign-on/interaction/interactions.js';
import { type Box, opened } from './sealed-box.js';

const NAME = 'interaction';

/** Compressed: a request repeats its query, so the seal is hardly longer than the application's address. */
export function interactionSeals(box: Box): InteractionSeals {
  return {
    seal: (interaction) => box.seal(deflateRawSync(JSON.stringify(interaction)), NAME),
    open: (token) => {
      const bytes = opened(() => box.open(token, NAME));
      return bytes && (JSON.parse(inflateRawSync(bytes).toString()) as Interaction);
    },
  };
}

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Interaction, InteractionSeals } from '../domain/sign-on/interaction/interactions.js';
import { opened, type SealedBox } from './sealed-box.js';

const NAME = 'interaction';

/** Compressed: a request repeats its query, so the seal is hardly longer than the application's address. */
export function interactionSeals(box: Pick<SealedBox, 'seal' | 'open'>): InteractionSeals {
  return {
    seal: (interaction) => box.seal(deflateRawSync(JSON.stringify(interaction)), NAME),
    open: (token) => {
      const bytes = opened(() => box.open(token, NAME));
      return bytes && (JSON.parse(inflateRawSync(bytes).toString()) as Interaction);
    },
  };
}

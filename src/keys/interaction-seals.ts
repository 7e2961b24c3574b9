import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Interaction, InteractionSeals } from '../domain/sign-on/interactions.js';
import { SealError, type SealedBox } from './sealed-box.js';

const NAME = 'interaction';

/** A request and its query say the same twice, so that compressed they are hardly longer than the address that the application sent. */
export function interactionSeals(box: Pick<SealedBox, 'seal' | 'open'>): InteractionSeals {
  return {
    seal: (interaction) => box.seal(deflateRawSync(JSON.stringify(interaction)), NAME),
    open: (token) => {
      try {
        return JSON.parse(inflateRawSync(box.open(token, NAME)).toString()) as Interaction;
      } catch (error) {
        if (error instanceof SealError) {
          return undefined;
        }
        throw error;
      }
    },
  };
}

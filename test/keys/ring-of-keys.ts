import { SealingRing } from '../../src/keys/sealing-ring.js';
import { newKey } from '../../src/keys/secrets-key.js';

/** A ring of one key, which is in use. */
export function newRing(key = newKey()): SealingRing {
  const ring = new SealingRing([key]);
  ring.use(key.id, key.id);
  return ring;
}

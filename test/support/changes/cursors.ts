import { changeCursors } from '../../../src/keys/change-cursors.js';

/** All nodes of a test have the same key. The examples of the contract are made with it too. */
export const cursors = changeCursors(Buffer.alloc(32, 7));

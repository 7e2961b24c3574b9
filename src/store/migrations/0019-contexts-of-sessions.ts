import { script } from './script.js';

/** A session remembers which context its person chose. */
export const up = script('alter table sessions add column contexts text');

import { script } from '../script.js';

/** Events name the span of their write, if it was traced. */
export const up = script('alter table events add column traceparent text');

/** The work did not complete, or only in part; the message says more. */
export class Unfinished extends Error {}

/** The command got an unusable argument; the message says what is accepted. */
export class UsageError extends Error {}

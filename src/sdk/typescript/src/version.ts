/** Set by packaging. */
export const version: string = '0.0.0';

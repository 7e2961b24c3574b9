/** Packaging puts the release here. */
export const version: string = '0.0.0';

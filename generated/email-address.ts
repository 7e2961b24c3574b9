// Made by `make generate` from the contracts. Do not edit.

/** What the contracts accept as an e-mail address. */
export const emailAddress = {
  maxLength: 254,
  pattern: new RegExp("^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-](?:\\.?[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]){0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$", 'u'),
} as const;

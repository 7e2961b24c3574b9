type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : '';

/**
 * Literal texts stay as they are. Patterns, such as those of ids, become `string`: `{}` extends a record
 * whose keys are a pattern, and not one whose keys are literals.
 */
type StoredText<Text extends string> = Record<never, never> extends Record<Text, unknown> ? string : Text;

/** Booleans are 1 and 0; lists and objects are texts, of JSON unless the table says otherwise. */
type Stored<Value> = Value extends boolean
  ? Value extends true
    ? 1
    : 0
  : Value extends object
    ? string
    : Value extends string
      ? StoredText<Value>
      : Value;

/** The columns of a table that stores all these members of a domain object. */
export type Columns<Members> = {
  [Name in keyof Members & string as SnakeCase<Name>]: Stored<Members[Name]>;
};

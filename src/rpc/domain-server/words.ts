type Unspoken = 'UNSPECIFIED' | 'UNRECOGNIZED';

type Words<Values> = {
  readonly [Name in Exclude<keyof Values & string, Unspoken> as Lowercase<Name>]: Values[keyof Values];
};

/** The values of an enum of the contract by the words of the domain, which are their names in lower case. */
export function words<Values extends Record<string, string>>(values: Values): Words<Values> {
  const spoken = Object.entries(values).filter(([name]) => name !== 'UNSPECIFIED' && name !== 'UNRECOGNIZED');
  return Object.fromEntries(spoken.map(([name, value]) => [name.toLowerCase(), value])) as Words<Values>;
}

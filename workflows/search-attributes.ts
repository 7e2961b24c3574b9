import type { Connection } from '@temporalio/client';

/** Names as for the CLI, numbers as in `temporal.api.enums.v1.IndexedValueType`. */
const attributeTypes = { Keyword: 2, KeywordList: 7 } as const;

export type SearchAttributes = Readonly<Record<string, keyof typeof attributeTypes>>;

/** The wanted attributes that the namespace lacks. */
export async function missingSearchAttributes(
  connection: Connection,
  namespace: string,
  wanted: SearchAttributes,
): Promise<SearchAttributes> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(wanted).filter(([name]) => !(name in (customAttributes ?? {})));
  return Object.fromEntries(missing);
}

export async function addSearchAttributes(
  connection: Connection,
  namespace: string,
  attributes: SearchAttributes,
): Promise<void> {
  const searchAttributes = Object.fromEntries(
    Object.entries(attributes).map(([name, type]) => [name, attributeTypes[type]]),
  );
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
}

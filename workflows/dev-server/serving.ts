import { Connection } from '@temporalio/client';

const answerLimitMs = 2_000;

/** Names as the CLI takes them, numbers as `temporal.api.enums.v1.IndexedValueType` has them. */
const attributeTypes = {
  Text: 1,
  Keyword: 2,
  Int: 3,
  Double: 4,
  Bool: 5,
  Datetime: 6,
  KeywordList: 7,
} as const;

export type SearchAttributes = Record<string, keyof typeof attributeTypes>;

/** Whether the server answers, has the namespace and knows the search attributes. */
export async function isServing(
  address: string,
  namespace: string,
  searchAttributes: SearchAttributes,
): Promise<boolean> {
  const connection = Connection.lazy({ address });
  try {
    return await connection.withDeadline(Date.now() + answerLimitMs, async () => {
      await connection.workflowService.describeNamespace({ namespace });
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
      const missing = Object.entries(searchAttributes).filter(
        ([name]) => !(name in (customAttributes ?? {})),
      );
      if (missing.length > 0) await addSearchAttributes(connection, namespace, missing);
      return missing.length === 0;
    });
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

/** Those on the command line reach only a namespace that is new; a database of an earlier release lacks the rest. */
async function addSearchAttributes(
  connection: Connection,
  namespace: string,
  missing: [string, keyof typeof attributeTypes][],
): Promise<void> {
  const searchAttributes = Object.fromEntries(missing.map(([name, type]) => [name, attributeTypes[type]]));
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
}

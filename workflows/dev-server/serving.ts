import { Connection } from '@temporalio/client';
import { addSearchAttributes, missingSearchAttributes, type SearchAttributes } from '../search-attributes.js';

const answerLimitMs = 2_000;

/** Whether the server answers, and has the namespace and the search attributes. */
export async function isServing(
  address: string,
  namespace: string,
  searchAttributes: SearchAttributes,
): Promise<boolean> {
  const connection = Connection.lazy({ address });
  try {
    return await connection.withDeadline(Date.now() + answerLimitMs, async () => {
      await connection.workflowService.describeNamespace({ namespace });
      const missing = await missingSearchAttributes(connection, namespace, searchAttributes);
      if (Object.keys(missing).length === 0) return true;
      // Command-line attributes apply to new namespaces only; an older database lacks the rest.
      await addSearchAttributes(connection, namespace, missing);
      return false;
    });
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

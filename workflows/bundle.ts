import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** Bundles the definitions, which are TypeScript, into the script of the workflow sandbox. */
export async function bundleDefinitions(definitionsPath: string): Promise<string> {
  const problems: string[] = [];
  const logger = new DefaultLogger('WARN', ({ message }) => problems.push(message));
  try {
    const { code } = await bundleWorkflowCode({ workflowsPath: definitionsPath, logger });
    return code;
  } catch (error) {
    throw new Error(`The workflow definitions cannot be bundled.\n${problems.join('\n')}`, { cause: error });
  }
}

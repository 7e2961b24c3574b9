import { mkdir, realpath, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** The place of the bundle: beside the compiled definitions. */
export const bundlePath = fileURLToPath(new URL('./definitions.bundle.js', import.meta.url));

/** Bundles the definitions, compiled or as TypeScript, into the script of the workflow sandbox. */
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

async function writeBundle(): Promise<void> {
  const code = await bundleDefinitions(fileURLToPath(new URL('./definitions/index.js', import.meta.url)));
  await mkdir(path.dirname(bundlePath), { recursive: true });
  // Renamed into place: a worker that starts meanwhile reads the old bundle or the new one.
  await writeFile(`${bundlePath}.new`, code);
  await rename(`${bundlePath}.new`, bundlePath);
}

const startedAs = process.argv[1] && (await realpath(process.argv[1]).catch(() => undefined));
if (startedAs === fileURLToPath(import.meta.url)) await writeBundle();

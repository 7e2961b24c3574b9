import { join } from 'node:path';
import { root } from '../layout.js';
import { mustRun } from '../run-tool.js';

/** proto/ -> messages and service definitions. */
export async function generateProto(outDir: string): Promise<void> {
  await mustRun(
    'buf',
    ['generate', 'proto', '--template', 'proto/buf.gen.yaml', '-o', join(outDir, 'proto')],
    root,
  );
}

import { join } from 'node:path';
import { root } from '../layout.js';
import { mustRun } from '../run-tool.js';

/** proto/ -> messages, service definitions, and the descriptors of both. */
export async function generateProto(outDir: string): Promise<void> {
  await mustRun(
    'buf',
    ['generate', 'proto', '--template', 'proto/buf.gen.yaml', '-o', join(outDir, 'proto')],
    root,
  );
  // For reflection. buf writes every type name in full, which readers such as grpcurl insist on.
  const descriptors = join(outDir, 'proto/descriptors.binpb');
  await mustRun('buf', ['build', 'proto', '--exclude-source-info', '-o', descriptors], root);
}

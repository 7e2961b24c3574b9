import { rm } from 'node:fs/promises';
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
  // Options of descriptors are read at development time only; at 180 kB their types would be the largest file of all.
  await rm(join(outDir, 'proto/google/protobuf/descriptor.ts'));
  // For reflection. buf writes every type name in full, which readers such as grpcurl insist on.
  await mustRun('buf', ['build', 'proto', '--exclude-source-info', '-o', descriptorsIn(outDir)], root);
}

export function descriptorsIn(outDir: string): string {
  return join(outDir, 'proto/descriptors.binpb');
}

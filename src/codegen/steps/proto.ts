import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../layout.js';
import { filesBelow } from '../manifest.js';
import { mustRun } from '../run-tool.js';

/** proto/ -> messages, service definitions, and descriptors. */
export async function generateProto(outDir: string): Promise<void> {
  await mustRun(
    'buf',
    ['generate', 'proto', '--template', 'proto/buf.gen.yaml', '-o', join(outDir, 'proto')],
    root,
  );
  // Only needed at development time; at 180 kB it would be the largest file.
  await rm(join(outDir, 'proto/google/protobuf/descriptor.ts'));
  for (const file of await filesBelow(join(outDir, 'proto'))) {
    const path = join(outDir, 'proto', file);
    await writeFile(path, takingDomainValues(await readFile(path, 'utf8')));
  }
  // For reflection. Readers such as grpcurl need the full type names that buf writes.
  await mustRun('buf', ['build', 'proto', '--exclude-source-info', '-o', descriptorsIn(outDir)], root);
}

/**
 * Lets encoders take values of the domain: null for absent fields, milliseconds for times. Decoded messages
 * keep their types, which the option useNullAsOptional would change.
 */
function takingDomainValues(text: string): string {
  return text
    .replaceAll(/if \((message\.\w+) !== undefined\)/g, 'if ($1 != null)')
    .replace('function toTimestamp(date: Date)', 'function toTimestamp(date: Date | number)')
    .replaceAll('date.getTime()', 'Number(date)');
}

export function descriptorsIn(outDir: string): string {
  return join(outDir, 'proto/descriptors.binpb');
}

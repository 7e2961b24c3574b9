import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileRegistry, type FileRegistry, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { filesBelow } from '../manifest.js';
import { mustRun } from '../run-tool.js';

/** The contract of the standard health protocol. */
const HEALTH = 'node_modules/grpc-health-check/proto';

/** proto/ -> messages, service definitions, and descriptors. */
export async function generateProto(outDir: string): Promise<void> {
  const options = ['--template', 'proto/buf.gen.yaml', '-o', join(outDir, 'proto')];
  await mustRun('buf', ['generate', 'proto', ...options]);
  await mustRun('buf', ['generate', HEALTH, ...options]);
  // Only needed at development time; at 180 kB it would be the largest file.
  await rm(join(outDir, 'proto/google/protobuf/descriptor.ts'));
  for (const file of await filesBelow(join(outDir, 'proto'))) {
    const path = join(outDir, 'proto', file);
    const text = takingDomainValues(await readFile(path, 'utf8'));
    await writeFile(path, copyingLess(text, file));
  }
  // For reflection. Readers such as grpcurl need the full type names that buf writes.
  await mustRun('buf', ['build', 'proto', '--exclude-source-info', '-o', descriptorsIn(outDir)]);
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

/** ts-proto copies each message, and each field of bytes, once more than needed. */
function copyingLess(text: string, file: string): string {
  const codecs = text
    .replaceAll(/Buffer\.from\(\s*(\w+)\.encode\(value\)\.finish\(\)\s*\)/g, 'encoded($1, value)')
    .replaceAll('Buffer.from(reader.bytes())', 'fieldOf(reader.bytes())');
  const used = ['encoded', 'fieldOf'].filter((name) => codecs.includes(`${name}(`));
  const up = '../'.repeat(file.split('/').length + 1);
  const ours = `import { ${used.join(', ')} } from "${up}src/rpc/bytes.js";\nimport `;
  return used.length === 0 ? text : codecs.replace(/^import /m, ours);
}

/** What the contract declares, with its options. */
export async function registryIn(outDir: string): Promise<FileRegistry> {
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, await readFile(descriptorsIn(outDir))));
}

function descriptorsIn(outDir: string): string {
  return join(outDir, 'proto/descriptors.binpb');
}

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, type DescExtension, fromBinary, setExtension, toBinary } from '@bufbuild/protobuf';
import { EnumValueOptionsSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { afterAll, expect, test } from '@jest/globals';
import { generatedDir } from '../../src/codegen/layout.js';
import { generateGrpcStatuses } from '../../src/codegen/steps/grpc-statuses.js';
import { registryIn } from '../../src/codegen/steps/proto.js';
import { temporaryDirectories } from '../support/temporary-directory.js';

const DESCRIPTORS = 'proto/descriptors.binpb';
const newDirectory = temporaryDirectories(afterAll);

test.each([
  ['without a gRPC status', undefined, ''],
  ['with the number of a gRPC status', '6', '6'],
])('an error code %s is refused', async (_, status, said) => {
  const registry = await registryIn(generatedDir);
  const option = registry.getExtension('integration.errors.v1.grpc_status') as DescExtension;
  const set = fromBinary(FileDescriptorSetSchema, readFileSync(join(generatedDir, DESCRIPTORS)));
  const file = set.file.find(({ name }) => name === 'integration/errors/v1/errors.proto');
  const code = file?.enumType[0]?.value.find(({ name }) => name === 'ERROR_CODE_ALREADY_EXISTS');
  if (code) {
    code.options = create(EnumValueOptionsSchema);
    if (status !== undefined) {
      setExtension(code.options, option, status);
    }
  }
  const folder = newDirectory();
  mkdirSync(join(folder, 'proto'));
  writeFileSync(join(folder, DESCRIPTORS), toBinary(FileDescriptorSetSchema, set));
  await expect(generateGrpcStatuses(folder)).rejects.toThrow(
    `ERROR_CODE_ALREADY_EXISTS needs the option grpc_status with a gRPC status, and not "${said}".`,
  );
});

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { afterAll, expect, test } from '@jest/globals';
import { generatedDir } from '../../src/codegen/layout.js';
import { generateGrpcStatuses } from '../../src/codegen/steps/grpc-statuses.js';
import { temporaryDirectories } from '../support/temporary-directory.js';

const DESCRIPTORS = 'proto/descriptors.binpb';
const newDirectory = temporaryDirectories(afterAll);

test('an error code without its gRPC status is refused', async () => {
  const set = fromBinary(FileDescriptorSetSchema, readFileSync(join(generatedDir, DESCRIPTORS)));
  const file = set.file.find(({ name }) => name === 'integration/errors/v1/errors.proto');
  const code = file?.enumType[0]?.value.find(({ name }) => name === 'ERROR_CODE_ALREADY_EXISTS');
  delete code?.options;
  const folder = newDirectory();
  mkdirSync(join(folder, 'proto'));
  writeFileSync(join(folder, DESCRIPTORS), toBinary(FileDescriptorSetSchema, set));
  await expect(generateGrpcStatuses(folder)).rejects.toThrow(
    'ERROR_CODE_ALREADY_EXISTS needs the option grpc_status',
  );
});

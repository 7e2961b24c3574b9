import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DescEnum, type DescExtension, getOption } from '@bufbuild/protobuf';
import { status as statuses } from '@grpc/grpc-js';
import { BANNER } from '../layout.js';
import { registryIn } from './proto.js';

/** The option grpc_status of each error code -> a table. */
export async function generateGrpcStatuses(outDir: string): Promise<void> {
  const registry = await registryIn(outDir);
  const { values } = registry.getEnum('integration.errors.v1.ErrorCode') as DescEnum;
  const option = registry.getExtension('integration.errors.v1.grpc_status') as DescExtension;
  const lines = values.map((value) => {
    const status = String(getOption(value, option));
    // The enumeration has its numbers as keys too.
    if (typeof statuses[status as keyof typeof statuses] !== 'number') {
      throw new Error(`${value.name} needs the option grpc_status with a gRPC status, and not "${status}".`);
    }
    return `  [ErrorCode.${value.localName}]: status.${status},`;
  });
  const text = `${BANNER}
import { status } from '@grpc/grpc-js';
import { ErrorCode } from './integration/errors/v1/errors.js';

/** The gRPC status of each code, for peers without trailers. UNKNOWN marks codes that never cross gRPC. */
export const grpcStatusOf: Record<ErrorCode, status> = {
${lines.join('\n')}
  [ErrorCode.UNRECOGNIZED]: status.UNKNOWN,
};
`;
  await writeFile(join(outDir, 'proto/grpc-statuses.ts'), text);
}

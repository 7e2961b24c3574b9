import { readFileSync } from 'node:fs';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import type { ServerDuplexStream, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { rights } from '../../generated/proto/rights.js';
import { asServiceError } from '../errors/service-error.js';
import { toStatus } from './error-trailer.js';
import type { RpcServer } from './server.js';

/** The services to reflect, by full names, with a file of descriptors. */
interface Reflected {
  descriptorFile: string;
  services: string[];
}

type Registered = { definition: ServiceDefinition; implementation: UntypedServiceImplementation };
type StreamHandler = (call: ServerDuplexStream<unknown, unknown>) => void;

const METHOD = 'ServerReflectionInfo';

/** Serves reflection, in every version of the protocol, to holders of any token. */
export function addReflection(server: RpcServer, reflected: Reflected): void {
  let loaded: Registered[] | undefined;
  reflectionServices().forEach(({ definition }, version) => {
    const handler = (call: ServerDuplexStream<unknown, unknown>) => {
      try {
        // Loaded on first use: the descriptors take time and memory.
        loaded ??= reflectionServices(reflected);
        const { implementation } = loaded[version] as Registered;
        (implementation[METHOD] as unknown as StreamHandler)(call);
      } catch (error) {
        call.emit('error', toStatus(asServiceError(error)));
      }
    };
    server.gate.rule((definition[METHOD] as { path: string }).path, {
      callers: rights,
      isWithinInstance: true,
    });
    server.addService(definition, { [METHOD]: handler });
  });
}

/** The newest version of the reflection protocol, for a client. */
export function reflectionDefinition(): ServiceDefinition {
  return (reflectionServices()[0] as Registered).definition;
}

function reflectionServices(reflected?: Reflected): Registered[] {
  const packages = reflected ? described(reflected.descriptorFile) : {};
  const registered: Registered[] = [];
  new ReflectionService(packages, { services: reflected?.services ?? [] }).addToServer({
    addService: (definition, implementation) => {
      registered.push({ definition, implementation });
    },
  });
  return registered;
}

/** In the format of proto-loader, whose own loader shortens type names, which breaks other clients. */
function described(descriptorFile: string): PackageDefinition {
  const { file } = fromBinary(FileDescriptorSetSchema, readFileSync(descriptorFile));
  const fileDescriptorProtos = file.map((one) => Buffer.from(toBinary(FileDescriptorProtoSchema, one)));
  return { all: { fileDescriptorProtos } } as unknown as PackageDefinition;
}

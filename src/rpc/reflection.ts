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

/** What is told of: the services by their full names, described by the descriptors in a file. */
export interface Reflected {
  descriptorFile: string;
  services: string[];
}

type Registered = { definition: ServiceDefinition; implementation: UntypedServiceImplementation };
type StreamHandler = (call: ServerDuplexStream<unknown, unknown>) => void;

const METHOD = 'ServerReflectionInfo';

/** Answers what services there are, in every version of the protocol, to whoever holds any token of ours. */
export function addReflection(server: RpcServer, reflected: Reflected): void {
  let loaded: Registered[] | undefined;
  reflectionServices().forEach(({ definition }, version) => {
    const handler = (call: ServerDuplexStream<unknown, unknown>) => {
      try {
        // Reading the descriptors costs time and memory that a service nobody inspects need not spend.
        loaded ??= reflectionServices(reflected);
        const { implementation } = loaded[version] as Registered;
        (implementation[METHOD] as unknown as StreamHandler)(call);
      } catch (error) {
        call.emit('error', toStatus(asServiceError(error)));
      }
    };
    server.gate.rule((definition[METHOD] as { path: string }).path, { callers: rights });
    server.addService(definition, { [METHOD]: handler });
  });
}

/** The reflection protocol's newest version, for a client. */
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

/** In the shape in which proto-loader hands descriptors over; its own loader shortens names of types, with which other clients cannot go on. */
function described(descriptorFile: string): PackageDefinition {
  const { file } = fromBinary(FileDescriptorSetSchema, readFileSync(descriptorFile));
  const fileDescriptorProtos = file.map((one) => Buffer.from(toBinary(FileDescriptorProtoSchema, one)));
  return { all: { fileDescriptorProtos } } as unknown as PackageDefinition;
}

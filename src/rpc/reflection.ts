import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import { rights } from '../../generated/proto/rights.js';
import type { AnyMethod, Handler } from './handlers.js';
import type { RpcServer } from './server.js';

/** The services to reflect, by full names, with a file of descriptors. */
interface Reflected {
  descriptorFile: string;
  services: string[];
}

type Registered = { definition: ServiceDefinition; implementation: UntypedServiceImplementation };
type StreamHandler = (call: EventEmitter) => void;

/** The package of each version of the protocol, the newest first. */
const VERSIONS = ['grpc.reflection.v1', 'grpc.reflection.v1alpha'];
const METHOD = 'ServerReflectionInfo';

/** Serves reflection, in every version of the protocol, to holders of any token. */
export function addReflection(server: RpcServer, reflected: Reflected): void {
  let loading: Promise<Registered[]> | undefined;
  let loaded: Registered[] = [];
  // At the first call: the descriptors and the protocol take time and memory.
  const load = async () => {
    loading ??= reflectionServices(reflected).catch((error) => {
      loading = undefined;
      throw error;
    });
    loaded = await loading;
  };
  VERSIONS.forEach((name, version) => {
    const path = `/${name}.ServerReflection/${METHOD}`;
    const handler = async function* (requests: AsyncIterable<unknown>) {
      await load();
      const answers: unknown[] = [];
      const call = Object.assign(new EventEmitter(), { write: (answer: unknown) => answers.push(answer) });
      const { implementation } = loaded[version] as Registered;
      (implementation[METHOD] as unknown as StreamHandler)(call);
      // The handler writes one answer to each request, at once. Its own loop would not wait for the reader.
      for await (const request of requests) {
        call.emit('data', request);
        yield answers.pop();
      }
    };
    // Messages are read by the handler, and so after loading.
    const codec = () => methodOf(loaded[version]);
    const method: AnyMethod = {
      path,
      requestStream: true,
      responseStream: true,
      requestSerialize: (message) => codec().requestSerialize(message),
      requestDeserialize: (bytes) => codec().requestDeserialize(bytes),
      responseSerialize: (message) => codec().responseSerialize(message),
      responseDeserialize: (bytes) => codec().responseDeserialize(bytes),
    };
    server.serve(method, handler as unknown as Handler<AnyMethod>, {
      callers: rights,
      isWithinInstance: true,
    });
  });
}

/** The newest version of the reflection protocol, for a client. */
export async function reflectionMethod(): Promise<AnyMethod> {
  return methodOf((await reflectionServices())[0]);
}

function methodOf(registered: Registered | undefined): AnyMethod {
  return registered?.definition[METHOD] as AnyMethod;
}

async function reflectionServices(reflected?: Reflected): Promise<Registered[]> {
  const { ReflectionService } = await import('@grpc/reflection');
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
  const reader = new BinaryReader(readFileSync(descriptorFile));
  const fileDescriptorProtos: Buffer[] = [];
  // A FileDescriptorSet has one field: its files.
  while (reader.pos < reader.len) {
    reader.tag();
    fileDescriptorProtos.push(Buffer.from(reader.bytes()));
  }
  return { all: { fileDescriptorProtos } } as unknown as PackageDefinition;
}

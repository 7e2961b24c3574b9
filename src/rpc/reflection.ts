import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type {
  Server,
  ServerDuplexStream,
  ServiceDefinition,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { asServiceError } from '../errors/service-error.js';
import type { Authenticate, Caller } from './callers.js';
import { toStatus } from './error-trailer.js';
import { admit } from './server.js';

/** What is told of: the services by their full names, described by the .proto files of a folder. */
export interface Reflected {
  protoDir: string;
  services: string[];
}

type Registered = { definition: ServiceDefinition; implementation: UntypedServiceImplementation };
type StreamHandler = (call: ServerDuplexStream<unknown, unknown>) => void;

const EVERY_CALLER: readonly Caller[] = ['service', 'operator', 'platform'];
const METHOD = 'ServerReflectionInfo';

/** Answers what services there are, in every version of the protocol, to whoever holds any token of ours. */
export function addReflection(server: Server, reflected: Reflected, authenticate: Authenticate): void {
  let loaded: Registered[] | undefined;
  reflectionServices().forEach(({ definition }, version) => {
    const handler = async (call: ServerDuplexStream<unknown, unknown>) => {
      try {
        await admit(call, EVERY_CALLER, authenticate);
        // Parsing the protos costs time and memory that a service nobody inspects need not spend.
        loaded ??= reflectionServices(reflected);
        const { implementation } = loaded[version] as Registered;
        (implementation[METHOD] as unknown as StreamHandler)(call);
      } catch (error) {
        call.emit('error', toStatus(asServiceError(error)));
      }
    };
    server.addService(definition, { [METHOD]: handler });
  });
}

/** The reflection protocol's newest version, for a client. */
export function reflectionDefinition(): ServiceDefinition {
  return (reflectionServices()[0] as Registered).definition;
}

function reflectionServices(reflected?: Reflected): Registered[] {
  const packages = reflected
    ? loadSync(protoFilesOf(reflected.protoDir), { includeDirs: [reflected.protoDir] })
    : {};
  const registered: Registered[] = [];
  new ReflectionService(packages, { services: reflected?.services ?? [] }).addToServer({
    addService: (definition, implementation) => {
      registered.push({ definition, implementation });
    },
  });
  return registered;
}

function protoFilesOf(protoDir: string): string[] {
  return readdirSync(protoDir, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.proto'))
    .map((file) => join(protoDir, file));
}

import { once } from 'node:events';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ServiceError as GrpcFailure,
  Metadata,
} from '@grpc/grpc-js';
import {
  loadFileDescriptorSetFromBuffer,
  type MethodDefinition,
  type PackageDefinition,
} from '@grpc/proto-loader';
import { ErrorCode, type FieldViolation, ServiceError } from '../errors/service-error.js';
import { AUTHORIZATION_KEY } from './call-metadata.js';
import type { AnyMethod } from './definitions.js';
import { fromStatus } from './error-trailer.js';
import { reflectionDefinition } from './reflection.js';
import { misfitsOf } from './request-check.js';

const DEADLINE_MS = 30_000;
const DECODING = { longs: String, enums: String, bytes: String, oneofs: true };

/** A method that was learned of from the server, not from generated code. */
export interface DynamicMethod {
  service: string;
  name: string;
  requestType: string;
  responseType: string;
  requestStream: boolean;
  responseStream: boolean;
  definition: AnyMethod;
  /** What of a request does not fit the method. */
  misfits: (request: object) => FieldViolation[];
}

interface ReflectionAnswer {
  errorResponse?: { errorMessage: string };
  listServicesResponse?: { service: { name: string }[] };
  fileDescriptorResponse?: { fileDescriptorProto: Uint8Array[] };
}

/** Calls whatever the server says it has, by reflection: for operators and their scripts. */
export class DynamicClient {
  readonly #client: Client;
  readonly #metadata = new Metadata();

  constructor(address: string, token: string, channelCredentials: ChannelCredentials) {
    this.#client = new Client(address, channelCredentials);
    this.#metadata.set(AUTHORIZATION_KEY, `Bearer ${token}`);
  }

  async methods(): Promise<DynamicMethod[]> {
    const listed = await this.#reflect([{ listServices: '*' }]);
    const services = listed
      .flatMap((answer) => answer.listServicesResponse?.service ?? [])
      .map(({ name }) => name);
    const described = await this.#reflect(services.map((name) => ({ fileContainingSymbol: name })));
    const files = described.flatMap((answer) => answer.fileDescriptorResponse?.fileDescriptorProto ?? []);
    const packages = loadFileDescriptorSetFromBuffer(descriptorSetOf(files), DECODING);
    return services.flatMap((service) => methodsOf(packages, service));
  }

  /** One message or many; a request stream is given its one message and closed. */
  async *call(method: DynamicMethod, request: object): AsyncGenerator<unknown> {
    const fieldViolations = method.misfits(request);
    if (fieldViolations.length > 0) {
      const list = fieldViolations.map(({ path, message }) => `${path} ${message}`).join('; ');
      const sentence = `The request does not fit ${method.requestType}: ${list}.`;
      throw new ServiceError(ErrorCode.INVALID_REQUEST, sentence, { fieldViolations });
    }
    yield* this.stream(method, [request], Date.now() + DEADLINE_MS);
  }

  /** Many messages, of which the caller knows that they fit; sent no faster than the other side reads. */
  async *stream(
    { definition }: DynamicMethod,
    requests: Iterable<object> | AsyncIterable<object>,
    deadline = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<unknown> {
    const { path, requestSerialize, responseDeserialize } = definition;
    const stream = this.#client.makeBidiStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      this.#metadata,
      { deadline },
    );
    const sent = send(requests, stream);
    // What fails here also ends the answers, where it is heard of; this is for the time until then.
    sent.catch(() => undefined);
    try {
      yield* stream;
      await sent;
    } catch (failure) {
      throw isStatus(failure) ? fromStatus(failure) : failure;
    } finally {
      stream.cancel();
    }
  }

  close(): void {
    this.#client.close();
  }

  async #reflect(questions: readonly object[]): Promise<ReflectionAnswer[]> {
    const method = reflectionDefinition().ServerReflectionInfo as unknown as AnyMethod;
    const options = { deadline: Date.now() + DEADLINE_MS };
    const { path, requestSerialize, responseDeserialize } = method;
    const stream = this.#client.makeBidiStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      this.#metadata,
      options,
    );
    const answers: ReflectionAnswer[] = [];
    try {
      for (const question of questions) {
        stream.write(question);
      }
      stream.end();
      for await (const answer of stream) {
        answers.push(answer as ReflectionAnswer);
      }
    } catch (failure) {
      throw fromStatus(failure as GrpcFailure);
    }
    return answers;
  }
}

/** A server that has answered before it has read all wants no more; the rest is left. */
async function send(
  requests: Iterable<object> | AsyncIterable<object>,
  stream: ClientDuplexStream<object, unknown>,
): Promise<void> {
  try {
    for await (const request of requests) {
      if (stream.destroyed || stream.readableEnded) {
        return;
      }
      if (!stream.write(request)) {
        await untilWritable(stream);
      }
    }
    stream.end();
  } catch (error) {
    stream.destroy(error as Error);
    throw error;
  }
}

async function untilWritable(stream: ClientDuplexStream<object, unknown>): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race(['drain', 'end', 'close'].map((event) => once(stream, event, { signal })));
  } finally {
    over.abort();
  }
}

function isStatus(failure: unknown): failure is GrpcFailure {
  return typeof (failure as Partial<GrpcFailure>).code === 'number';
}

function methodsOf(packages: PackageDefinition, service: string): DynamicMethod[] {
  const definition = packages[service];
  if (!definition || 'format' in definition) {
    return [];
  }
  return Object.entries(definition as Record<string, MethodDefinition<object, object>>).map(
    ([name, method]) => ({
      service,
      name,
      requestType: typeNameOf(method.requestType),
      responseType: typeNameOf(method.responseType),
      requestStream: method.requestStream,
      responseStream: method.responseStream,
      definition: method as unknown as AnyMethod,
      misfits: (request) => misfitsOf(packages, service, typeNameOf(method.requestType), request),
    }),
  );
}

function typeNameOf({ type }: { type: object }): string {
  return (type as { name?: string }).name ?? '';
}

/** One set of all files, each once, with the fields under the names they have in JSON. */
function descriptorSetOf(files: readonly Uint8Array[]): Buffer {
  const unique = new Map(files.map((file) => [Buffer.from(file).toString('base64'), file]));
  const file = [...unique.values()].map((bytes) =>
    fromBinary(FileDescriptorProtoSchema, Uint8Array.from(bytes)),
  );
  file.flatMap(({ messageType }) => messageType).forEach(useJsonNames);
  return Buffer.from(toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file })));
}

function useJsonNames(message: DescriptorProto): void {
  for (const field of message.field) {
    field.name = field.jsonName;
  }
  message.nestedType.forEach(useJsonNames);
}

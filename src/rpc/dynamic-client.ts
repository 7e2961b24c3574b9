import {
  create,
  createFileRegistry,
  type DescMethod,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ServiceError as GrpcFailure,
  Metadata,
  type MethodDefinition,
} from '@grpc/grpc-js';
import { inJsonNames } from '../errors/json-names.js';
import { ErrorCode, ServiceError } from '../errors/service-error.js';
import { AUTHORIZATION_KEY } from './call-metadata.js';
import { CLIENT_OPTIONS } from './connect.js';
import { fromStatus } from './error-trailer.js';
import { untilWritable } from './message-streams.js';
import { reflectionMethod } from './reflection.js';
import { misfitsOf } from './request-check.js';

const DEADLINE_MS = 30_000;

interface ReflectionAnswer {
  listServicesResponse?: { service: { name: string }[] };
  fileDescriptorResponse?: { fileDescriptorProto: Uint8Array[] };
}

type Requests<T> = Iterable<T> | AsyncIterable<T>;

/** Calls any method of a server by reflection: for operators and their scripts. */
export class DynamicClient {
  readonly #client: Client;
  readonly #metadata = new Metadata();

  constructor(address: string, token: string, channelCredentials: ChannelCredentials) {
    this.#client = new Client(address, channelCredentials, CLIENT_OPTIONS);
    this.#metadata.set(AUTHORIZATION_KEY, `Bearer ${token}`);
  }

  async methods(): Promise<DescMethod[]> {
    const listed = await this.#reflect([{ listServices: '*' }]);
    const services = listed
      .flatMap((answer) => answer.listServicesResponse?.service ?? [])
      .map(({ name }) => name);
    const described = await this.#reflect(services.map((name) => ({ fileContainingSymbol: name })));
    const files = described.flatMap((answer) => answer.fileDescriptorResponse?.fileDescriptorProto ?? []);
    const registry = registryOf(files);
    return services.flatMap((name) => registry.getService(name)?.methods ?? []);
  }

  /** Sends one message. Yields one answer within the deadline, or a stream of answers without one. */
  async *call(method: DescMethod, request: JsonObject): AsyncGenerator<JsonValue> {
    const fieldViolations = misfitsOf(method.input, request);
    if (fieldViolations.length > 0) {
      const sentence = `The request does not fit ${method.input.name}; the fields say why.`;
      throw new ServiceError(ErrorCode.INVALID_REQUEST, sentence, { fieldViolations });
    }
    const isStreamed = method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming';
    yield* this.stream(method, [request], isStreamed ? undefined : Date.now() + DEADLINE_MS);
  }

  /** Sends many valid messages, at the speed of the server. */
  stream(
    { parent, name, input, output }: DescMethod,
    requests: Requests<JsonValue>,
    deadline = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<JsonValue> {
    const method = {
      path: `/${parent.typeName}/${name}`,
      requestSerialize: (request: JsonValue) => Buffer.from(toBinary(input, fromJson(input, request))),
      responseDeserialize: (bytes: Buffer) => toJson(output, fromBinary(output, bytes)),
    };
    return this.#exchange(method, requests, deadline);
  }

  close(): void {
    this.#client.close();
  }

  async #reflect(questions: readonly object[]): Promise<ReflectionAnswer[]> {
    const method = await reflectionMethod();
    const answers: ReflectionAnswer[] = [];
    for await (const answer of this.#exchange(method, questions, Date.now() + DEADLINE_MS)) {
      answers.push(answer);
    }
    return answers;
  }

  async *#exchange<Request extends JsonValue | object, Response>(
    method: Pick<MethodDefinition<Request, Response>, 'path' | 'requestSerialize' | 'responseDeserialize'>,
    requests: Requests<Request>,
    deadline: number,
  ): AsyncGenerator<Response> {
    const { path, requestSerialize, responseDeserialize } = method;
    const stream = this.#client.makeBidiStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      this.#metadata,
      { deadline },
    );
    const sent = send(requests, stream);
    // A failure also ends the answers, which report it.
    sent.catch(() => undefined);
    try {
      // Not `await sent`: the requests may come from an input that does not end.
      yield* stream;
    } catch (failure) {
      throw isStatus(failure) ? inJsonNames(fromStatus(failure)) : failure;
    } finally {
      stream.cancel();
    }
  }
}

/** Stops when the server has answered before it has read all. */
async function send<Request>(
  requests: Requests<Request>,
  stream: ClientDuplexStream<Request, unknown>,
): Promise<void> {
  try {
    for await (const request of requests) {
      if (stream.destroyed || stream.readableEnded) {
        return;
      }
      if (!stream.write(request)) {
        await untilWritable(stream, 'end');
      }
    }
    stream.end();
  } catch (error) {
    // After the last answer, no listener would handle the error.
    if (!stream.readableEnded) {
      stream.destroy(error as Error);
    }
    throw error;
  }
}

function isStatus(failure: unknown): failure is GrpcFailure {
  return typeof (failure as Partial<GrpcFailure>).code === 'number';
}

/** Each file once, after its imports. Files that contain only options are not served, and not needed. */
function registryOf(descriptors: readonly Uint8Array[]): FileRegistry {
  const files = descriptors.map((bytes) => fromBinary(FileDescriptorProtoSchema, Uint8Array.from(bytes)));
  const named = new Map(files.map((file) => [file.name, file]));
  const ordered = new Set<FileDescriptorProto>();
  const add = (file: FileDescriptorProto) => {
    file.dependency = file.dependency.filter((name) => named.has(name));
    for (const name of file.dependency) {
      add(named.get(name) as FileDescriptorProto);
    }
    ordered.add(file);
  };
  for (const file of named.values()) {
    add(file);
  }
  return createFileRegistry(create(FileDescriptorSetSchema, { file: [...ordered] }));
}

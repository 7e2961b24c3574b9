import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { Endpoint } from '../endpoint.js';
import type { Gate } from '../gate.js';
import { type Load, ServedStream } from './served-stream.js';

/** The open streams of calls of a server, and the methods that can be called in them. */
export class ServedStreams {
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #open = new Set<ServedStream>();
  readonly #load: Load = { calls: 0, waitingBytes: 0 };
  #isDraining = false;

  constructor(
    private readonly gate: Gate,
    private readonly exchange: Endpoint,
  ) {}

  add(endpoint: Endpoint): void {
    this.#endpoints.set(endpoint.method.path, endpoint);
  }

  get hasMethods(): boolean {
    return this.#endpoints.size > 0;
  }

  readonly handle = (call: ServerDuplexStream<Buffer, Buffer>): void => {
    const admitted = this.gate.callOf(call.metadata);
    const stream = new ServedStream(call, admitted, {
      endpoints: this.#endpoints,
      gate: this.gate,
      exchange: this.exchange,
      load: this.#load,
      onOver: () => {
        this.#open.delete(stream);
        this.exchange.ended(admitted, call.cancelled);
      },
    });
    this.#open.add(stream);
    if (this.#isDraining) {
      stream.drain();
    }
  };

  /** Each stream ends once its peer has ended its side and received every answer. */
  drain(): void {
    this.#isDraining = true;
    for (const stream of this.#open) {
      stream.drain();
    }
  }
}

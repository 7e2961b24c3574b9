/** Requests whose bodies have not arrived completely. */
export class AwaitedBodies {
  /** Per network, what gives each up; the one awaited longest is first. */
  readonly #ofNetwork = new Map<string, Set<() => void>>();

  /** Reads a body, which counts until it is read. `giveUp` ends the reading. */
  async during(network: string, giveUp: () => void, read: () => Promise<Buffer>): Promise<Buffer> {
    const bodies = this.#ofNetwork.get(network) ?? new Set();
    this.#ofNetwork.set(network, bodies.add(giveUp));
    try {
      return await read();
    } finally {
      if (bodies.delete(giveUp) && bodies.size === 0) {
        this.#ofNetwork.delete(network);
      }
    }
  }

  /** Gives up the body awaited longest of the network with most, if those are more. Returns the network. */
  giveUpOne(moreThan: number): string | undefined {
    let greatest: [network: string, bodies: Set<() => void>] | undefined;
    for (const entry of this.#ofNetwork) {
      if (entry[1].size > (greatest?.[1].size ?? moreThan)) {
        greatest = entry;
      }
    }
    const [network, bodies = new Set<() => void>()] = greatest ?? [];
    const [giveUp] = bodies;
    if (giveUp) {
      bodies.delete(giveUp);
      giveUp();
    }
    return network;
  }
}

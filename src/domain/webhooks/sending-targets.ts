import type { SubscriptionId } from '../../../generated/ids.js';
import type { Receiver, SealedSecret } from './sending.js';
import type { SecretBox } from './subscriptions.js';

/** Where to post, and what to sign with. */
export interface DeliveryTarget {
  subscriptionId: SubscriptionId;
  url: string;
  /** The newest first. */
  signingSecrets: readonly Buffer[];
}

const MAX_KEPT = 10_000;

/** Opens the secrets that deliveries are signed with, each once: that takes as long as all else that a claim does for its subscription. */
export class DeliveryTargets {
  readonly #opened = new Map<string, Buffer>();

  constructor(private readonly box: SecretBox) {}

  /** Nothing may be sent unsigned, so it throws where there is nothing to sign with. */
  of({ id, url, secrets }: Receiver): DeliveryTarget {
    if (secrets.length === 0) {
      throw new Error(`The subscription ${id} has no secret to sign with.`);
    }
    return { subscriptionId: id, url, signingSecrets: secrets.map((secret) => this.#open(secret)) };
  }

  #open({ id, sealed }: SealedSecret): Buffer {
    const name = `${id} ${sealed}`;
    const present = this.#opened.get(name);
    if (present) {
      return present;
    }
    if (this.#opened.size >= MAX_KEPT) {
      this.#opened.clear();
    }
    const opened = Buffer.from(this.box.open(sealed, id));
    this.#opened.set(name, opened);
    return opened;
  }
}

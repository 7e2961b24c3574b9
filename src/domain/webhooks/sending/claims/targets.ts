import type { SubscriptionId } from '../../../../../generated/ids.js';
import type { SecretBox } from '../../subscriptions/subscription.js';
import type { Receiver, SealedSecret } from '../sending.js';

/** The address and the secrets. */
export interface DeliveryTarget {
  subscriptionId: SubscriptionId;
  url: string;
  /** Newest first. */
  signingSecrets: readonly Buffer[];
}

const MAX_KEPT = 10_000;

/** Opens the signing secrets, each once: opening costs as much as the rest of a claim for a subscription. */
export class DeliveryTargets {
  readonly #opened = new Map<string, Buffer>();

  constructor(private readonly box: SecretBox) {}

  /** Throws if there is no secret: nothing may be sent unsigned. */
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

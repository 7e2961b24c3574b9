import type { ReplayEventsResponse } from '../../../../../generated/proto/integration/webhooks/v1/events.js';
import { ProgressBar } from '../../output/progress-bar.js';
import type { Session } from '../session.js';

const INTERVAL_MS = 250;

/** The share of the range that is done, by the time of the last event. Sends no calls without a terminal. */
export class ReplayBar {
  readonly #bar: ProgressBar;
  #share = 0;
  #locatedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly session: Session,
    private readonly range: { since: Date; until: Date },
    private readonly output: NodeJS.WriteStream = process.stderr,
  ) {
    this.#bar = new ProgressBar(output);
  }

  async show({ createdDeliveries, lastEventId, done }: ReplayEventsResponse): Promise<void> {
    const now = performance.now();
    if (this.output.isTTY && !done && lastEventId !== '' && now - this.#locatedAt >= INTERVAL_MS) {
      this.#locatedAt = now;
      this.#share = (await this.#shareBefore(lastEventId)) ?? this.#share;
    }
    this.#bar.show(done ? 1 : this.#share, `${createdDeliveries} deliveries made`);
  }

  clear(): void {
    this.#bar.clear();
  }

  /** Undefined where the event or the connection is gone: the bar must not end a replay. */
  async #shareBefore(eventId: string): Promise<number | undefined> {
    const { since, until } = this.range;
    try {
      const { event } = await this.session.webhooks.getEvent({ eventId });
      const occurredAt = event?.occurredAt?.getTime() ?? since.getTime();
      return Math.max(0, occurredAt - since.getTime()) / Math.max(1, until.getTime() - since.getTime());
    } catch {
      return undefined;
    }
  }
}

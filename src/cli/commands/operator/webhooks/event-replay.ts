import type {
  ReplayEventsRequest,
  ReplayEventsResponse,
} from '../../../../../generated/proto/integration/webhooks/v1/events.js';
import { stopSignal } from '../../../stop-signals.js';
import { Unfinished } from '../../errors.js';
import { isLost, untilNextTry } from '../../lost-connection.js';
import { say } from '../../output/print.js';
import { ProgressBar } from '../../output/progress-bar.js';
import { asTime } from '../../output/table.js';
import type { Session, Shown } from '../session.js';

/** How long a lost connection is retried; after that, the message says how to continue. */
const PATIENCE_MS = 30_000;
const MESSAGE_WAIT_MS = 60_000;

interface ReplayOptions {
  since: Date;
  until?: Date;
  subscription: string;
  types?: readonly string[];
  includeDelivered?: boolean;
  after?: string;
}

interface Range extends ReplayEventsRequest {
  since: Date;
  until: Date;
}

export async function replay(
  session: Session,
  _: unknown,
  options: ReplayOptions,
  patienceMs = PATIENCE_MS,
): Promise<Shown> {
  const stop = stopSignal().signal;
  const range: Range = {
    subscriptionId: options.subscription,
    since: options.since,
    // Fixed here, so that the command that continues it covers the same events.
    until: options.until ?? (await present(session)),
    eventTypes: [...(options.types ?? [])],
    includeDelivered: options.includeDelivered ?? false,
    afterEventId: options.after,
  };
  const outcome: ReplayEventsResponse = {
    createdDeliveries: 0,
    lastEventId: options.after ?? '',
    done: false,
  };
  const bar = new ReplayBar(session, range);
  try {
    for await (const { lastEventId, ...batch } of batches(session, range, stop, patienceMs)) {
      Object.assign(outcome, { ...batch, lastEventId: lastEventId || outcome.lastEventId });
      await bar.show(outcome);
    }
  } catch (error) {
    bar.clear();
    const hasBegun = outcome.lastEventId !== (options.after ?? '');
    if (!isLost(error) && hasBegun) {
      const command = resumption(range, outcome.lastEventId);
      say(
        `Deliveries made before it was refused: ${outcome.createdDeliveries}. When the reason below is gone, it goes on with:\n\n  ${command}\n`,
      );
    }
    if (!isLost(error) || !hasBegun) {
      throw error;
    }
  }
  bar.clear();
  return shown(range, outcome);
}

/** After all events until now, also those whose time is ahead of the clock of this machine. */
async function present({ webhooks }: Session): Promise<Date> {
  const { events } = await webhooks.listEvents({ types: [], pageSize: 1, pageToken: '' });
  return new Date(Math.max(Date.now(), events[0]?.occurredAt?.getTime() ?? 0) + 1);
}

/** Each batch and its count continue the one before. A lasting loss of the connection throws its error. */
async function* batches(
  { webhooks }: Session,
  range: Range,
  stop: AbortSignal,
  patienceMs: number,
): AsyncGenerator<ReplayEventsResponse> {
  const options = { deadlineMs: Number.POSITIVE_INFINITY, messageWaitMs: MESSAGE_WAIT_MS, signal: stop };
  let { afterEventId } = range;
  let patientUntil = Number.NEGATIVE_INFINITY;
  for (let before = 0, created = 0; !stop.aborted; before = created) {
    try {
      for await (const answer of webhooks.replayEvents({ ...range, afterEventId }, options)) {
        created = before + answer.createdDeliveries;
        afterEventId = answer.lastEventId || afterEventId;
        patientUntil = performance.now() + patienceMs;
        yield { ...answer, createdDeliveries: created };
        if (answer.done) {
          return;
        }
      }
    } catch (error) {
      // An address that never answered is not retried.
      if (!stop.aborted && (!isLost(error) || performance.now() > patientUntil)) {
        throw error;
      }
    }
    await untilNextTry(stop);
  }
}

function shown(range: Range, outcome: ReplayEventsResponse): Shown {
  const made = `Deliveries made: ${outcome.createdDeliveries}.`;
  const note =
    outcome.keptSince &&
    `Events are kept from ${asTime(outcome.keptSince)} on (EVENT_RETENTION). Older ones are left out.`;
  if (outcome.done) {
    const watch = ` How they go: \`integration delivery list --subscription ${range.subscriptionId}\`.`;
    return { json: outcome, text: outcome.createdDeliveries > 0 ? made + watch : made, note };
  }
  const command = resumption(range, outcome.lastEventId);
  return {
    json: { ...outcome, resumption: command },
    text: made,
    note,
    failure: new Unfinished(
      `The replay was cut off. What was made stays; it goes on with:\n\n  ${command}\n`,
    ),
  };
}

function resumption(
  { subscriptionId, since, until, eventTypes, includeDelivered }: Range,
  after: string,
): string {
  return [
    'integration event replay',
    `--subscription ${subscriptionId}`,
    `--since ${since.toISOString()}`,
    `--until ${until.toISOString()}`,
    ...(eventTypes.length > 0 ? [`--types '${eventTypes.join(',')}'`] : []),
    ...(includeDelivered ? ['--include-delivered'] : []),
    ...(after ? [`--after ${after}`] : []),
  ].join(' ');
}

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

import { type AttackedService, credentialsOf, type Tokens } from '../../attacks/attacked-service.js';
import type { Exchange } from '../../support/http-exchange.js';
import { randomFrom } from '../../support/random-from.js';
import type { PatientClient } from '../patient-client.js';
import type { Board } from './board.js';
import { type History, type Kind, microseconds, type Outcome } from './history.js';
import type { Step, TokenFamily } from './token-family.js';

const LATE_SHARE = 0.05;

export interface ClientsSettings {
  count: number;
  seed: number;
  on: AttackedService;
  patient: PatientClient<Kind>;
  board: Board;
  history: History;
}

/** Clients that each do one operation after the other until this is enough. */
export async function runClients(settings: ClientsSettings, isEnough: () => boolean): Promise<void> {
  await Promise.all(
    Array.from({ length: settings.count }, async (_, index) => {
      const client = new Client(index + 1, settings);
      while (!isEnough()) {
        await client.turn();
      }
    }),
  );
}

class Client {
  readonly #random: () => number;

  constructor(
    private readonly number: number,
    private readonly settings: ClientsSettings,
  ) {
    this.#random = randomFrom(settings.seed + number);
  }

  async turn(): Promise<void> {
    const { board } = this.settings;
    const rested = this.#random() < LATE_SHARE ? board.rested() : undefined;
    if (rested) {
      await this.#useLate(rested);
      return;
    }
    const family = await board.pick(this.#random);
    const step = family.next(this.#random);
    await (step ? this.#do(family, step) : family.untilOneEnds());
  }

  /** The spent token ends the family: what is used after it is refused. */
  async #useLate(family: TokenFamily): Promise<void> {
    await this.#do(family, { kind: 'refresh', shown: family.spent as string });
    await this.#do(family, { kind: 'refresh', shown: family.refreshTokens.at(-1) as string });
    await this.#do(family, family.userinfo(this.#random));
  }

  async #do(family: TokenFamily, step: Step): Promise<void> {
    const { patient, history } = this.settings;
    const token = family.nameOf(step);
    const call = microseconds();
    const answer = await family.doing(
      step,
      patient.askOnce(step.kind, () => this.#ask(family, step)),
    );
    const end = microseconds();
    const outcome = outcomeOf(step, answer);
    const gives = family.learn(outcome, tokensIn(step, answer));
    history.add({
      ...{ family: family.name, client: this.number, kind: step.kind, token, call, outcome },
      ...(outcome !== 'unknown' && { return: end }),
      ...(gives !== undefined && { gives }),
    });
  }

  #ask({ fresh }: TokenFamily, { kind, shown }: Step): Promise<Exchange> {
    const { on } = this.settings;
    const asks = {
      redeem: () => on.redeem(fresh),
      refresh: () => on.refresh(fresh.application, shown),
      userinfo: () => on.userinfo(shown),
      revoke: () => on.call('/auth/revoke', { ...credentialsOf(fresh.application), token: shown }),
    };
    return asks[kind]();
  }
}

/** Refused is what the contract says of codes and tokens that are over. Any other answer is a fault. */
function outcomeOf({ kind }: Step, answer: Exchange | undefined): Outcome {
  if (!answer) {
    return 'unknown';
  }
  const { status, body } = answer;
  if (status === 200) {
    return 'granted';
  }
  const [over, error] = kind === 'userinfo' ? [401, 'invalid_token'] : [400, 'invalid_grant'];
  if (status !== over || (JSON.parse(body) as { error?: string }).error !== error) {
    throw new Error(`${kind} was answered ${status}: ${body}`);
  }
  return 'refused';
}

function tokensIn({ kind }: Step, answer: Exchange | undefined): Tokens | undefined {
  const hasTokens = answer?.status === 200 && (kind === 'redeem' || kind === 'refresh');
  return hasTokens ? (JSON.parse(answer.body) as Tokens) : undefined;
}

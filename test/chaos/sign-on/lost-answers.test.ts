import { beforeAll, describe, expect, test } from '@jest/globals';
import type { DemoFilePerson } from '../../../src/cli/demo/demo-file.js';
import { AttackedService, BEHIND_PROXY, type FreshCode } from '../../attacks/attacked-service.js';
import { expectOAuthError } from '../../attacks/verdicts.js';
import { eventually } from '../../support/eventually.js';
import type { Exchange } from '../../support/http-exchange.js';
import { type Role, serviceProcesses } from '../../support/service-process.js';
import { unlessTurnedAway, untilAnswered } from '../../support/turned-away.js';
import { answerUnlessCut, isReady } from '../patient-client.js';
import { expectAllKnown, type Family, firstOf, refresh, tokensIn } from './families.js';
import { plantPeople } from './planted-people.js';
import { SignOnRecords } from './records.js';
import { busyClient, SignInFlow } from './sign-in-flow.js';

const services = serviceProcesses();

const AT_ONCE = 32;
const MOST_ROUNDS = 6;
/** One for each round, because a person may sign in only so often. */
const PEOPLE = 4 * MOST_ROUNDS;

/** One request of many at once, with what was answered, if anything was. */
interface Outcome<T> {
  item: T;
  answer: Exchange | undefined;
}

let on: AttackedService;
let records: SignOnRecords;
let people: DemoFilePerson[];

beforeAll(async () => {
  on = new AttackedService(await services.start(BEHIND_PROXY));
  people = plantPeople(on.service, on.dashboard.redirectUris[0]?.instanceId ?? '', PEOPLE);
  records = new SignOnRecords(on.service);
});

describe.each(['domain', 'edge'] as const)('when the %s is killed at the first of many answers', (role) => {
  test('a code without an answer to its exchange is unused or used; if used, a repetition ends its grant', async () => {
    const outcomes = await untilOneIsLost(role, freshCodes, (code) => on.redeem(code));
    const known = outcomes.flatMap(({ item, answer }) => (answer ? [firstOf(item, tokensIn(answer))] : []));
    // After an early kill, there may be none.
    if (known.length > 0) {
      await expectAllKnown(on, known);
    }
    let judged = 0;
    for (const { item } of outcomes.filter(({ answer }) => !answer)) {
      const record = records.code(item.code);
      const grantId = record?.grantId ?? '';
      const redeem = () => on.redeem(item);
      if (record?.status === 'ISSUED') {
        // After one that a busy machine turned away, the code is unused or used.
        const first = await unlessTurnedAway(redeem());
        if (!first) {
          continue;
        }
        expect(firstOf(item, tokensIn(first)).grantId).toBe(grantId);
      } else {
        expect(record?.status).toBe('REDEEMED');
        expectOAuthError(await untilAnswered(redeem), 400, 'invalid_grant');
        expect(records.grant(grantId)?.revokedAt).toEqual(expect.any(Number));
      }
      judged += 1;
    }
    expect(judged).toBeGreaterThan(0);
  });

  test('a refresh that was not answered is repeated, and gives the one successor', async () => {
    const outcomes = await untilOneIsLost(role, newFamilies, ({ application, refreshToken }) =>
      on.refresh(application, refreshToken),
    );
    for (const { item, answer } of outcomes) {
      const repeated = await refresh(on, item);
      expect(repeated.refreshToken).toEqual(answer ? tokensIn(answer).refresh_token : expect.any(String));
      expect(records.grant(item.grantId)).toMatchObject({ generation: 2, revokedAt: null });
      await refresh(on, repeated);
    }
  });
});

async function freshCodes(): Promise<FreshCode[]> {
  const signIn = await signedIn();
  return Promise.all(Array.from({ length: AT_ONCE }, () => signIn.code()));
}

async function newFamilies(): Promise<Family[]> {
  const signIn = await signedIn();
  return Promise.all(Array.from({ length: AT_ONCE }, () => signIn.begin()));
}

/** A person who gets codes without their password, whatever a busy machine turns away. */
async function signedIn(): Promise<SignInFlow> {
  const signIn = new SignInFlow(on, busyClient, people.pop() as DemoFilePerson, on.dashboard);
  await signIn.code();
  return signIn;
}

/**
 * In the first round mostly. If all answers came before the signal, the next round sends it earlier: after a
 * smaller part of the time until the first answer.
 */
async function untilOneIsLost<T>(
  role: Role,
  prepare: () => Promise<T[]>,
  ask: (item: T) => Promise<Exchange>,
): Promise<Outcome<T>[]> {
  let firstAfterMs = 0;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const items = await prepare();
    const pid = on.service.pidOf(role);
    const askedAt = performance.now();
    const answered = items.map(async (item) => {
      const answer = await answerUnlessCut(ask(item));
      kill(pid);
      return { item, answer };
    });
    if (round > 0) {
      setTimeout(() => kill(pid), firstAfterMs * (1 - round / MOST_ROUNDS));
    }
    await Promise.race(answered);
    firstAfterMs = performance.now() - askedAt;
    const outcomes = await Promise.all(answered);
    await eventually(`the ${role} back`, () => on.service.pidOf(role) !== pid);
    await eventually('readiness', () => isReady(on.service));
    if (outcomes.some(({ answer }) => !answer)) {
      return outcomes;
    }
  }
  throw new Error(`In ${MOST_ROUNDS} rounds every answer came.`);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // An answer before this one has done it.
  }
}

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AttackedService, BEHIND_PROXY, type FreshCode } from '../../attacks/attacked-service.js';
import { eventually } from '../../support/eventually.js';
import type { Exchange } from '../../support/http-exchange.js';
import { type Exit, isRunning, serviceProcesses } from '../../support/service-process.js';
import { describeWith } from '../../support/toolchains.js';
import { answerUnlessCut } from '../patient-client.js';
import { CodeMinuteResults } from './code-minute-results.js';
import { expectAllKnown, type Family, firstOf, refreshed, tokensIn } from './families.js';
import { plantPeople } from './planted-people.js';
import { SignOnRecords } from './records.js';
import { SignInFlow } from './sign-in-flow.js';
import { Storm, type Strike } from './storm.js';

const services = serviceProcesses();

const FLOWS = 200;
const AT_ONCE = 16;
const LONG_AGO_MS = 20 * 60_000;
/** A killed role takes up to twenty seconds to return on a busy machine. */
const STORM_LIMIT_MS = 600_000;
const KILL_LIMIT_MS = 300_000;

const STRIKES: readonly Strike[] = [
  { role: 'domain', during: 'exchange', afterFlows: 10 },
  { role: 'edge', during: 'exchange', afterFlows: 35 },
  { role: 'worker', during: 'refresh', afterFlows: 55 },
  { role: 'domain', during: 'refresh', afterFlows: 75 },
  { role: 'edge', during: 'refresh', afterFlows: 100 },
  { role: 'worker', during: 'browser', afterFlows: 120 },
  { role: 'domain', during: 'browser', afterFlows: 140 },
  { role: 'edge', during: 'browser', afterFlows: 165 },
];

let on: AttackedService;
let storm: Storm;
let records: SignOnRecords;
let acknowledged: Family[];
/** The second start. */
let again: AttackedService;

beforeAll(async () => {
  on = new AttackedService(await services.start(BEHIND_PROXY));
  records = new SignOnRecords(on.service);
  storm = new Storm(on, STRIKES);
  acknowledged = await storm.run(plantPeople(on.service, instanceId(), FLOWS), AT_ONCE);
}, STORM_LIMIT_MS);

function instanceId(): string {
  return on.dashboard.redirectUris[0]?.instanceId ?? '';
}

describe('200 sign-ins while each role is killed again and again', () => {
  test('all come to their end, each begun again where an answer did not come', () => {
    expect(acknowledged).toHaveLength(FLOWS);
    expect(storm.struck).toEqual(STRIKES);
    expect(storm.client.interruptions.length).toBeGreaterThanOrEqual(STRIKES.length);
  });

  test('no role ended by itself, and none answered with a fault', () => {
    const lines = on.service.output.lines();
    const ends = lines.filter(({ msg }) => msg?.endsWith('ended, starting it again'));
    expect(ends.map(({ signal }) => signal)).toEqual(STRIKES.map(() => 'SIGKILL'));
    expect(lines.filter(({ status }) => Number(status) >= 500 && status !== 503)).toEqual([]);
  });

  test('no code was redeemed twice: each redeemed one has one grant, and no grant came from elsewhere', () => {
    const redeemed = records
      .codesWithStatus('REDEEMED')
      .map(({ grantId }) => grantId)
      .sort();
    expect(new Set(redeemed).size).toBe(redeemed.length);
    expect(
      records
        .grants()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(redeemed);
    expect(records.audited('token.issued').sort()).toEqual(redeemed);
    expect(records.audited('code.replayed')).toEqual([]);
  });

  test('each acknowledged exchange has a separate grant, and no family was taken for stolen', () => {
    const good = records.grants().filter(({ revokedAt }) => revokedAt === null);
    const grantIds = new Set(acknowledged.map(({ grantId }) => grantId));
    expect(grantIds.size).toBe(FLOWS);
    expect(good.map(({ id }) => id)).toEqual(expect.arrayContaining([...grantIds]));
    expect(records.audited('refresh_token.reused')).toEqual([]);
  });

  test('every token that was acknowledged is known', async () => {
    acknowledged = await expectAllKnown(on, acknowledged);
  });
});

describe('a parent that is killed in the middle of exchanges and refreshes', () => {
  let pids: number[];
  let exit: Exit;

  beforeAll(async () => {
    const codes = await newCodes(AT_ONCE);
    // And some that are never exchanged.
    await newCodes(3);
    pids = on.service.rolePids();
    acknowledged = await killedAtFirstAnswer(codes);
    exit = await on.service.exited;
  }, KILL_LIMIT_MS);

  test('leaves no process', async () => {
    expect(exit).toEqual({ code: null, signal: 'SIGKILL' });
    await eventually('every child gone', () => !pids.some(isRunning));
  });

  test('and started again knows every token that was acknowledged', async () => {
    records.letCodesAge(LONG_AGO_MS);
    const { dataDir, settings } = on.service;
    again = new AttackedService(await services.start({ dataDir, env: settings }));
    acknowledged = await expectAllKnown(again, acknowledged);
  });
});

describeWith('temporal', 'the service after the storm, once there is a Temporal', (executable) => {
  let results: CodeMinuteResults;

  beforeAll(async () => {
    results = await CodeMinuteResults.startedFor(again.service, executable);
  });
  afterAll(() => results?.stop());

  test('has each minute watched by a workflow, which tells how many codes were redeemed and expired', async () => {
    const counts = new Map<number, { issued: number; redeemed: number; expired: number }>();
    for (const { minute, status } of records.codes()) {
      const { issued, redeemed, expired } = counts.get(minute) ?? { issued: 0, redeemed: 0, expired: 0 };
      const isRedeemed = status === 'REDEEMED' ? 1 : 0;
      counts.set(minute, {
        issued: issued + 1,
        redeemed: redeemed + isRedeemed,
        expired: expired + 1 - isRedeemed,
      });
    }
    for (const [minute, expected] of counts) {
      expect(await results.of(minute)).toEqual(expected);
    }
    expect(records.codesWithStatus('ISSUED')).toEqual([]);
    expect(records.codesWithStatus('EXPIRED').length).toBeGreaterThanOrEqual(3);
  });
});

function newCodes(count: number): Promise<FreshCode[]> {
  const people = plantPeople(on.service, instanceId(), count);
  return Promise.all(people.map((person) => new SignInFlow(on, storm.client, person, on.dashboard).code()));
}

/** Redeems these and refreshes as many others, and gives what is acknowledged then. */
async function killedAtFirstAnswer(codes: readonly FreshCode[]): Promise<Family[]> {
  const tokensOf = async (asked: Promise<Exchange>) => {
    const answer = await answerUnlessCut(asked);
    on.service.signal('SIGKILL');
    return answer && tokensIn(answer);
  };
  const told = await Promise.all([
    ...acknowledged.slice(0, codes.length).map(async (family) => {
      const tokens = await tokensOf(on.refresh(family.application, family.refreshToken));
      return tokens && refreshed(family, tokens);
    }),
    ...codes.map(async (code) => {
      const tokens = await tokensOf(on.redeem(code));
      return tokens && firstOf(code, tokens);
    }),
  ]);
  return [...acknowledged.slice(codes.length), ...told.filter((family) => family !== undefined)];
}

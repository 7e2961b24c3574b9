import { describe, expect, test } from '@jest/globals';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { MAX_SENT } from '../../../src/rpc/short-calls/frames.js';
import { signalled } from '../../support/signalled.js';
import { refusalOf } from '../rig.js';
import { call, directoryRigs, request, visit } from './directory-rig.js';

/** Before all changes: a transaction that began at this position is open. */
const END = 10;
/** Digests of an integration. */
const MOST_WAITING = 8;
const change = (id: string) => ({
  ...{ type: 'worker', id, clientId: 'cli_1', position: END + 1, version: 1, removed: false, changedAt: 1 },
});

/** Each integration has one key, whose hash is its id. */
const find = async (hash: Uint8Array) => ({
  ...visit,
  key: { ...visit.key, integrationId: Buffer.from(hash).toString() as never },
});
const by = (integrationId: string, operationId: string) => {
  const asked = request(operationId);
  // As a continued read, which the rate limit does not count.
  const counted = { context: { ...asked.context, apiKeyHash: Buffer.from(integrationId) }, isCounted: true };
  return { ...asked, ...counted };
};

describe('while an older transaction holds changes back,', () => {
  const serving = directoryRigs();

  /** A read learns at once that the transaction is open, and at its second look only that it has ended. */
  async function heldBack({ quickLooks = 0 } = {}) {
    const [looked, ended] = [signalled(), signalled()];
    let [looks, quick, end] = [0, quickLooks, END];
    const lives = async () => {
      looks += 1;
      quick -= 1;
      if (quick < 0) {
        quick = 0;
        looked.tell();
        await ended.told;
      }
      return { lives: [{ life: '8c1f02d4a7b9', lastPosition: null }], end };
    };
    /** The look of a digest follows. */
    const newestOf = () => {
      quick += 1;
      return END + 1;
    };
    const changes = { lives, newestOf, digestsOf: [], page: [change('wrk_1'), change('wrk_2')] };
    const [turnsTaken, bothTurns] = [signalled(), 2];
    let pages = 0;
    const activeOf = () => {
      pages += 1;
      if (pages === bothTurns) {
        turnsTaken.tell();
      }
      return [1, 2].map((number) => ({ id: `wrk_${number}`, json: '{}' }));
    };
    const { directory } = await serving({ changes, workers: { activeOf } }, undefined, find);
    const finish = () => {
      end = END + 2;
      ended.tell();
    };
    return { directory, turnsTaken: turnsTaken.told, looked: looked.told, finish, looks: () => looks };
  }

  test('a load that cannot go on is refused for now, and no list waits for it', async () => {
    const { directory, turnsTaken, looks } = await heldBack({ quickLooks: 2 });
    const loads = ['itg_1', 'itg_2'].map((integrationId) =>
      refusalOf(directory.read({ ...by(integrationId, 'listChanges'), limit: 1 }, call)),
    );
    await turnsTaken;
    await expect(directory.read(by('itg_3', 'listUsers'), call)).resolves.toMatchObject({ rest: undefined });
    for (const refusal of await Promise.all(loads)) {
      expect(refusal).toMatchObject({ code: ErrorCode.UNAVAILABLE, retryAfterSeconds: 3 });
    }
    expect(looks()).toBe(2);
  });

  test('few digests of an integration wait, and leave room for the calls of others', async () => {
    const { directory, looked, finish } = await heldBack();
    const digest = (integrationId: string) => directory.read(by(integrationId, 'getChangesDigest'), call);
    const digests = Array.from({ length: MAX_SENT }, () => digest('itg_1'));
    const allRefused = signalled();
    let refusals = 0;
    for (const one of digests) {
      one.catch(({ code, message, retryAfterSeconds }) => {
        expect([code, message, retryAfterSeconds]).toEqual([
          ErrorCode.RATE_LIMITED,
          `Your integration is reading ${MOST_WAITING} digests at once. Please finish one first.`,
          expect.any(Number),
        ]);
        refusals += 1;
        if (refusals === MAX_SENT - MOST_WAITING) {
          allRefused.tell();
        }
      });
    }
    await looked;
    await expect(directory.read(by('itg_2', 'getClient'), call)).resolves.toMatchObject({ rest: undefined });
    await allRefused.told;
    const other = digest('itg_2');
    finish();
    await other;
    const ends = await Promise.allSettled(digests);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(MOST_WAITING);
  });
});

import { describe, expect, test } from '@jest/globals';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { signalled } from '../../support/signalled.js';
import { refusalOf } from '../rig.js';
import { call, directoryRigs, request, visit } from './directory-rig.js';

/** Before all changes: a transaction that began at this position is open. */
const END = 10;
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

  /** From this look on, a read does not learn whether the transaction has ended before `end`. */
  async function heldBack({ firstSlowLook }: { firstSlowLook: number }) {
    const ended = signalled();
    let looks = 0;
    const lives = async () => {
      looks += 1;
      if (looks >= firstSlowLook) {
        await ended.told;
      }
      return { lives: [{ life: '8c1f02d4a7b9', lastPosition: null }], end: END };
    };
    const changes = {
      ...{ lives, newestOf: END + 1, digestsOf: [] },
      page: [change('wrk_1'), change('wrk_2')],
    };
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
    return { directory, turnsTaken: turnsTaken.told, looks: () => looks };
  }

  test('a load that cannot go on is refused for now, and no list waits for it', async () => {
    const { directory, turnsTaken, looks } = await heldBack({ firstSlowLook: 3 });
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
});

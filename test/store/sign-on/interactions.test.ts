import { expect, test } from '@jest/globals';
import type { ApplicationId, ClientId } from '../../../generated/ids.js';
import type { Interaction, Progress } from '../../../src/domain/sign-on/interactions.js';
import { describeEachDatabase } from '../../support/databases.js';
import { signOnRig } from './rig.js';
import { newInteraction } from './samples.js';

describeEachDatabase('an interaction', (under) => {
  async function rigWith(fields: Partial<Interaction> = {}) {
    const rig = await signOnRig(under);
    const interaction = newInteraction(rig.now, fields);
    await rig.run(({ interactions }) => interactions.insert(interaction));
    const finish = (at: number) =>
      rig.run(({ interactions }) => interactions.finish(interaction.tokenHash, at));
    return { ...rig, interaction, finish, found: () => rig.rows.interactions.find(interaction.tokenHash) };
  }

  test.each<[what: string, fields: Partial<Interaction>]>([
    ['an authorization', {}],
    [
      'a sign-out',
      {
        request: {
          kind: 'sign_out',
          applicationId: 'app_1' as ApplicationId,
          postLogoutRedirectUri: 'https://rota.example.com/bye',
          state: '__proto__',
        },
      },
    ],
    [
      'one that is over',
      { finishedAt: 7, progress: { refusal: 'no_access', refusedEmail: 'a"b@example.com' } },
    ],
  ])('comes back as it was kept: %s', async (_, fields) => {
    const { interaction, found, rows } = await rigWith(fields);
    await expect(found()).resolves.toEqual(interaction);
    await expect(rows.interactions.find(`${interaction.tokenHash}A`)).resolves.toBeUndefined();
  });

  test('keeps what the person has done last', async () => {
    const { interaction, run, found, now } = await rigWith({ progress: { refusal: 'credentials' } });
    const progress: Progress = {
      signedInAt: now + 1,
      context: { userType: 'WORKER', clientId: 'cli_1' as ClientId, accountId: 'acc_1' as never },
    };
    const other = newInteraction(now);
    await run(async ({ interactions }) => {
      await interactions.insert(other);
      await interactions.update(interaction.tokenHash, progress);
    });
    await expect(found()).resolves.toEqual({ ...interaction, progress });
    await expect(run(({ interactions }) => interactions.find(other.tokenHash))).resolves.toEqual(other);
  });

  test('ends once, however many end it at once', async () => {
    const { interaction, yesesOf, found, now } = await rigWith();
    const ends = yesesOf(50, ({ interactions }) => interactions.finish(interaction.tokenHash, now + 3));
    await expect(ends).resolves.toBe(1);
    await expect(found()).resolves.toEqual({ ...interaction, finishedAt: now + 3 });
  });

  test('that has ended says no more about what was done', async () => {
    const { interaction, run, finish, found, now } = await rigWith();
    await finish(now);
    await run(({ interactions }) => interactions.update(interaction.tokenHash, { refusal: 'context' }));
    await expect(found()).resolves.toEqual({ ...interaction, finishedAt: now });
  });

  test.each([
    { what: 'up to its last moment', before: 1, ended: true },
    { what: 'no longer when its time is over', before: 0, ended: false },
    { what: 'no longer after that', before: -1, ended: false },
  ])('can end $what', async ({ before, ended }) => {
    const { interaction, finish } = await rigWith();
    await expect(finish(interaction.expiresAt - before)).resolves.toBe(ended);
  });
});

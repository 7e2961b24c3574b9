import { expect, test } from '@jest/globals';
import { describeEachDatabase } from '../../../support/databases.js';
import { signOnRig } from './rig.js';
import { newInteraction } from './samples.js';

describeEachDatabase('an interaction', (under) => {
  test('ends once, however many end it at once, and another one is not ended by it', async () => {
    const { rows, yesesOf, now } = await signOnRig(under);
    const [ended, other] = [newInteraction(now), newInteraction(now)];
    await expect(rows.interactions.isFinished(ended.id)).resolves.toBe(false);
    await expect(yesesOf(50, ({ interactions }) => interactions.finish(ended))).resolves.toBe(1);
    await expect(rows.interactions.isFinished(ended.id)).resolves.toBe(true);
    await expect(rows.interactions.isFinished(other.id)).resolves.toBe(false);
  });

  test('that ends in a transaction that fails has not ended', async () => {
    const { rows, run, now } = await signOnRig(under);
    const interaction = newInteraction(now);
    const failing = run(async ({ interactions }) => {
      await interactions.finish(interaction);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await expect(rows.interactions.isFinished(interaction.id)).resolves.toBe(false);
  });
});

import { describe, expect, test } from '@jest/globals';
import { describeWith } from '../support/toolchains.js';
import { focusWalkOf } from './audit.js';
import { pages } from './pages.js';
import { faultsOnScreens } from './screens.js';
import { signOnInChromium } from './sign-on-in-chromium.js';

describeWith('chromium', 'every page in Chromium', (executable) => {
  const rig = signOnInChromium(executable);

  describe.each(Object.keys(pages))('%s', (name) => {
    test('is accessible, on every screen, light and dark', async () => {
      const { page } = await rig.visit();
      await pages[name]?.(page, rig);
      expect((await focusWalkOf(page)).faults).toEqual([]);
      expect(await faultsOnScreens(page, name)).toEqual({});
      expect(await page.getByRole('note').innerText()).toContain('Demo environment');
    });
  });
});

import { InteractionPage } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import type { PageHandler } from '../sign-on-handler.js';
import { interactionPageHandler } from './interaction-page.js';

export const showSignOut: PageHandler<'showSignOut'> = interactionPageHandler(
  InteractionPage.SIGN_OUT,
  'signOutPage',
);

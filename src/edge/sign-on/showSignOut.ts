import { InteractionPage } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { showInteraction } from './interaction-page.js';
import type { PageHandler } from './sign-on-handler.js';

export const showSignOut: PageHandler<'showSignOut'> = (request, dependencies) =>
  showInteraction(InteractionPage.SIGN_OUT, request, dependencies);

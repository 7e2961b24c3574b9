import { InteractionPage } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import type { PageHandler } from '../sign-on-handler.js';
import { showInteraction } from './interaction-page.js';

export const showSignIn: PageHandler<'showSignIn'> = (request, dependencies) =>
  showInteraction(InteractionPage.SIGN_IN, request, dependencies);

import { InteractionPage } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import type { PageHandler } from '../sign-on-handler.js';
import { showInteraction } from './interaction-page.js';

export const showConsent: PageHandler<'showConsent'> = (request, dependencies) =>
  showInteraction(InteractionPage.CONSENT, request, dependencies);

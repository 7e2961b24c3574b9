import type { PageHandler } from '../sign-on-handler.js';
import { interactionPageHandler } from './interaction-page.js';

export const showSignIn: PageHandler<'showSignIn'> = interactionPageHandler('signInPage');

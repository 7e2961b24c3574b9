import type { PageHandler } from '../sign-on-handler.js';
import { interactionPageHandler } from './interaction-page.js';

export const showSignOut: PageHandler<'showSignOut'> = interactionPageHandler('signOutPage');

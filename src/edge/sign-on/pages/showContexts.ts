import type { PageHandler } from '../sign-on-handler.js';
import { interactionPageHandler } from './interaction-page.js';

export const showContexts: PageHandler<'showContexts'> = interactionPageHandler('contextPage');

import { signedOutPage } from '../../pages/endings.js';
import type { PageHandler } from '../sign-on-handler.js';

export const showSignedOut: PageHandler<'showSignedOut'> = async (_, { pages }) => pages.page(signedOutPage);

import { emailVerifiedPage } from '../../pages/endings.js';
import type { PageHandler } from '../sign-on-handler.js';

export const showEmailVerified: PageHandler<'showEmailVerified'> = async (_, { pages }) =>
  pages.page(emailVerifiedPage);

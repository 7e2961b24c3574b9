import { emailChangedPage } from '../../pages/endings.js';
import type { PageHandler } from '../sign-on-handler.js';

export const showEmailChanged: PageHandler<'showEmailChanged'> = async (_, { pages }) =>
  pages.page(emailChangedPage);

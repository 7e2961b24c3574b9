import { passwordSetPage } from '../../pages/endings.js';
import type { PageHandler } from '../sign-on-handler.js';

export const showPasswordSet: PageHandler<'showPasswordSet'> = async (_, { pages }) =>
  pages.page(passwordSetPage);

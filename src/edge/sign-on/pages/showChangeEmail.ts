import { changeEmailPage } from '../../pages/links.js';
import { linkPageHandler } from '../page-handlers.js';
import type { PageHandler } from '../sign-on-handler.js';

export const showChangeEmail: PageHandler<'showChangeEmail'> = linkPageHandler(
  (signOn, link, options) => signOn.showEmailChangeLink(link, options),
  ({ token, problem }, page) => changeEmailPage(token, page, problem),
);

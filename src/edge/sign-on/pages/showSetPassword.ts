import { setPasswordPage } from '../../pages/links.js';
import { linkPageHandler } from '../page-handlers.js';
import type { PageHandler } from '../sign-on-handler.js';

export const showSetPassword: PageHandler<'showSetPassword'> = linkPageHandler(
  (signOn, link, options) => signOn.showPasswordLink(link, options),
  ({ token, problem }, page) => setPasswordPage(token, page, problem),
);

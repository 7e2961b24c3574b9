import { verifyEmailPage } from '../../pages/links.js';
import { linkPageHandler } from '../page-handlers.js';
import type { PageHandler } from '../sign-on-handler.js';

export const showVerifyEmail: PageHandler<'showVerifyEmail'> = linkPageHandler(
  (signOn, link, options) => signOn.showEmailLink(link, options),
  ({ token }, page) => verifyEmailPage(token, page),
);

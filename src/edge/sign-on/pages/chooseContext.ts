import { UserType } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { authorizationFormHandler } from '../page-handlers.js';
import type { PageHandler } from '../sign-on-handler.js';

export const chooseContext: PageHandler<'chooseContext'> = authorizationFormHandler(
  ({ interaction, csrf_token: csrfToken, context }, { signOn, browser, options }) => {
    const [type, clientId = ''] = context.split(':');
    const userType = type === 'USER' ? UserType.USER : UserType.WORKER;
    return signOn.chooseContext({ browser, interaction, csrfToken, userType, clientId }, options);
  },
);

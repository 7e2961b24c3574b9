import { describeForm } from './form-suite.js';
import { CSRF_TOKEN, INTERACTION } from './page-suite.js';

const PASSWORD = ' pässword & 100%+= 🔑 ';

describeForm({
  operationId: 'signIn',
  statuses: [200, 303, 400, 405, 413, 415, 429, 500, 503],
  path: '/auth/sign-in',
  method: 'signIn',
  fields: {
    interaction: INTERACTION,
    csrf_token: CSRF_TOKEN,
    email: 'Märia@Example.com ',
    password: PASSWORD,
  },
  askedWith: {
    interaction: INTERACTION,
    csrfToken: CSRF_TOKEN,
    email: 'Märia@Example.com ',
    password: PASSWORD,
  },
  backUrl: `/auth/sign-in?interaction=${INTERACTION}`,
  unfit: [
    ['an interaction that is none', { interaction: 'x' }],
    ['an interaction with a line break at its end', { interaction: `${INTERACTION}\n` }],
    ['a CSRF token that is none', { csrf_token: '' }],
    ['an email beyond 320 characters', { email: 'x'.repeat(321) }],
    ['a NUL in the email', { email: 'm\0@example.com' }],
    ['a NUL in the password', { password: 'pass\0word' }],
  ],
});

import type { NextQuestion, SignInTarget } from './questions.js';

/** From the application's redirect to its tokens, as a browser and then the application ask. */
export const REQUESTS_PER_SIGN_IN = 4;

const LOCATION = /\r\nlocation: *([^\r]*)/i;
const COOKIE = /\r\nset-cookie: *([^;\r]*)/i;
const INTERACTION = /[?&]interaction=([^&]*)/;
const CSRF = /name="csrf_token" value="([^"]*)"/;
const CODE = /[?&]code=([^&]*)/;

/** One sign-in after the other, each by the next person from an address of their own. */
export function signInsOf(target: SignInTarget, nextNumber: () => number): NextQuestion {
  let step = 0;
  let number = 0;
  let cookie = '';
  let interaction = '';
  const common = () => [
    `host: ${target.host}:${target.port}`,
    `x-forwarded-for: 10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`,
    ...(cookie ? [`cookie: ${cookie}`] : []),
  ];
  const get = (path: string) => Buffer.from([`GET ${path} HTTP/1.1`, ...common(), '', ''].join('\r\n'));
  const post = (path: string, type: string, body: string) =>
    Buffer.from(
      [
        `POST ${path} HTTP/1.1`,
        ...common(),
        `content-type: ${type}`,
        `content-length: ${body.length}`,
        '',
        body,
      ].join('\r\n'),
    );
  const steps: ((answer: string) => Buffer)[] = [
    () => {
      number = nextNumber();
      cookie = '';
      return get(target.authorizePath);
    },
    (answer) => {
      cookie = found(COOKIE, answer);
      interaction = found(INTERACTION, found(LOCATION, answer));
      return get(`/auth/sign-in?interaction=${interaction}`);
    },
    (answer) => {
      const fields = {
        interaction,
        csrf_token: found(CSRF, answer),
        email: target.emails[number % target.emails.length] as string,
        password: target.password,
      };
      const type = 'application/x-www-form-urlencoded';
      return post('/auth/sign-in', type, new URLSearchParams(fields).toString());
    },
    (answer) => {
      const code = found(CODE, found(LOCATION, answer));
      cookie = '';
      return post('/auth/token', 'application/json', JSON.stringify({ ...target.tokenRequest, code }));
    },
  ];
  return (answer = '') => {
    const question = (steps[step] as (answer: string) => Buffer)(answer);
    step = (step + 1) % steps.length;
    return question;
  };
}

function found(pattern: RegExp, text: string): string {
  const value = pattern.exec(text)?.[1];
  if (value === undefined) {
    throw new Error(`There is no ${pattern.source} in the answer: ${text.slice(0, 400)}`);
  }
  return value;
}

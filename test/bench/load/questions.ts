import { signInsOf } from './sign-in.js';

export interface Target {
  host: string;
  port: number;
  method?: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  /** Anything else fails the round: refusals are quick to give and would flatter. */
  expectStatus: number | readonly number[];
  /** Answers with this status are counted apart, and the connection asks again at once. */
  shedStatus?: number;
  /** What differs from one request to the next; without any they are all alike. */
  variants?: readonly Variant[];
  /** `cycle`: repeatedly. `once`: each once. `refresh`: one per connection, with each new refresh token. */
  use?: 'cycle' | 'once' | 'refresh';
  /** Whole sign-ins instead. */
  signIn?: Omit<SignInTarget, 'host' | 'port'>;
}

export interface SignInTarget {
  host: string;
  port: number;
  /** With its query. */
  authorizePath: string;
  emails: readonly string[];
  password: string;
  /** The code comes into it. */
  tokenRequest: Record<string, string>;
}

export interface Variant {
  headers?: Record<string, string>;
  body?: string;
}

/** The requests of one connection, as bytes; undefined when there are no more. */
export type NextQuestion = (answer: string | undefined) => Buffer | undefined;

const ANSWERED_TOKEN = /"refresh_token" ?: ?"([^"]*)"/;
/** In a form or in JSON. */
const ASKED_TOKEN = /(refresh_token(?:=|":"))[^"&]*/;

/** Gives each connection what it asks. */
export function questionsOf(target: Target): () => NextQuestion {
  const { variants, use = 'cycle', signIn } = target;
  if (signIn) {
    let number = 0;
    return () => signInsOf({ ...target, ...signIn }, () => number++);
  }
  if (!variants) {
    const only = questionOf(target, {});
    return () => () => only;
  }
  let used = 0;
  if (use === 'refresh') {
    return () => conversationOf(target, variants[used++ % variants.length] as Variant);
  }
  const prepared = variants.map((variant) => questionOf(target, variant));
  const next = use === 'once' ? () => prepared[used++] : () => prepared[used++ % prepared.length];
  return () => next;
}

function conversationOf(target: Target, { headers, body = '' }: Variant): NextQuestion {
  let said = body;
  return (answer) => {
    if (answer !== undefined) {
      const token = ANSWERED_TOKEN.exec(answer)?.[1];
      if (token === undefined) {
        throw new Error(`An answer has no refresh token: ${answer.slice(-200)}`);
      }
      said = said.replace(ASKED_TOKEN, (_, before: string) => before + token);
    }
    return questionOf(target, { headers, body: said });
  };
}

function questionOf(target: Target, { headers, body }: Variant): Buffer {
  const { host, port, path, method = 'GET' } = target;
  const all = {
    host: `${host}:${port}`,
    ...target.headers,
    ...headers,
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, '', body ?? ''].join('\r\n'), 'utf8');
}

import { createHash, randomBytes } from 'node:crypto';
import { type Exchange, exchange, type Question } from '../support/http-exchange.js';

export const FORM = 'application/x-www-form-urlencoded';

const OWN_PATH = /^\/(?!\/)/;
const MOST_STEPS = 8;

let lastAddress = 0;

/** An unused address, of an unused network. */
export function newAddress(): string {
  lastAddress += 1;
  return `10.${(lastAddress >> 16) & 0xff}.${(lastAddress >> 8) & 0xff}.${lastAddress & 0xff}`;
}

export function newPkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

export type FormFields = Readonly<Record<string, string>> | readonly [string, string][];

export function encoded(fields: FormFields): string {
  return new URLSearchParams(fields).toString();
}

/** What a form of the page sends back by itself. */
export function hiddenFields({ body }: Exchange): Record<string, string> {
  const inputs = body.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g);
  return Object.fromEntries([...inputs].map(([, name, value]) => [name, value]));
}

/** A browser without a screen. Keeps cookies, follows no redirects, and sends the headers it is given. */
export class UserAgent {
  readonly cookies = new Map<string, string>();

  constructor(
    private readonly port: number,
    readonly address = newAddress(),
  ) {}

  get cookieHeader(): string | undefined {
    const pairs = [...this.cookies].map(([name, value]) => `${name}=${value}`);
    return pairs.length > 0 ? pairs.join('; ') : undefined;
  }

  async ask(target: string, { headers, ...question }: Question = {}): Promise<Exchange> {
    const own = { cookie: this.cookieHeader, 'x-forwarded-for': this.address };
    const answer = await exchange(this.port, target, { ...question, headers: { ...own, ...headers } });
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') {
        this.cookies.delete(name);
      } else {
        this.cookies.set(name, value);
      }
    }
    return answer;
  }

  post(path: string, fields: FormFields, headers: Question['headers'] = {}): Promise<Exchange> {
    return this.ask(path, {
      method: 'POST',
      headers: { 'content-type': FORM, ...headers },
      body: encoded(fields),
    });
  }

  /** On to the page, or to the first address that is not the server's own. */
  async follow(answer: Exchange): Promise<Exchange> {
    let last = answer;
    for (let step = 0; step < MOST_STEPS; step += 1) {
      const { location } = last.headers;
      if (location === undefined || !OWN_PATH.test(location)) {
        return last;
      }
      last = await this.ask(location);
    }
    throw new Error(`It went in circles, at last to ${last.headers.location}.`);
  }

  async open(target: string): Promise<Exchange> {
    return this.follow(await this.ask(target));
  }

  async submit(path: string, fields: FormFields): Promise<Exchange> {
    return this.follow(await this.post(path, fields));
  }
}

const MAX_REDIRECTS = 10;

const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** Where a browser has come to: a page of the server, or the address outside it that it was sent on to. */
export class Page {
  constructor(
    readonly url: URL,
    readonly status: number,
    readonly headers: Headers,
    readonly html: string,
    /** Outside the server, which is not asked for. */
    readonly hasLeft: boolean,
  ) {}

  get heading(): string {
    return textOf(/<h1[^>]*>(.*?)<\/h1>/s.exec(this.html)?.[1] ?? '');
  }

  /** All that there is to read. */
  get text(): string {
    return textOf(this.html.replace(/<style>.*?<\/style>/s, ' '));
  }

  /** What an input has in it when the page is shown. */
  valueOf(name: string): string | undefined {
    return inputsOf(this.html).get(name);
  }

  /** Values of the buttons with a name, in their order. */
  choices(name: string): string[] {
    return tagsOf(this.html, 'button').flatMap((button) =>
      button.get('name') === name ? [button.get('value') ?? ''] : [],
    );
  }
}

/** A browser without scripts: it keeps cookies, follows redirects within one server, and fills in forms. */
export class TestBrowser {
  readonly #origin: string;
  readonly #cookies = new Map<string, string>();

  constructor(serverUrl: string) {
    this.#origin = new URL(serverUrl).origin;
  }

  /** What it would show the server, by name. */
  get cookies(): ReadonlyMap<string, string> {
    return this.#cookies;
  }

  setCookie(name: string, value: string): void {
    this.#cookies.set(name, value);
  }

  /** Goes to an address, as a link of another site would take it there. */
  open(address: string | URL): Promise<Page> {
    return this.#go(new URL(address, this.#origin), { headers: { 'sec-fetch-site': 'cross-site' } });
  }

  /** Sends a form to an address, as a page of another site would. */
  post(address: string | URL, fields: Record<string, string>, site = 'cross-site'): Promise<Page> {
    return this.#go(new URL(address, this.#origin), {
      method: 'POST',
      headers: { 'sec-fetch-site': site },
      body: new URLSearchParams(fields),
    });
  }

  /** Submits a page's form with its values, the person's input, and the button, by id or value. */
  press(page: Page, button: string, filledIn: Record<string, string> = {}): Promise<Page> {
    const form = formsOf(page.html).find(({ content }) => buttonOf(content, button) !== undefined);
    const pressed = form && buttonOf(form.content, button);
    if (!form || !pressed) {
      throw new Error(`There is no button ${button} at “${page.heading}”:\n${page.text}`);
    }
    const fields = { ...Object.fromEntries(inputsOf(form.content)), ...filledIn };
    const name = pressed.get('name');
    return this.post(
      new URL(form.action, page.url),
      { ...fields, ...(name !== undefined && { [name]: pressed.get('value') ?? '' }) },
      'same-origin',
    );
  }

  /** Goes where a link of a page leads, found by its id or its text. */
  follow(page: Page, link: string): Promise<Page> {
    const found = [...page.html.matchAll(/<a\b([^>]*)>(.*?)<\/a>/gs)].find(
      ([, attributes = '', text = '']) =>
        attributesOf(attributes).get('id') === link || textOf(text) === link,
    );
    const address = attributesOf(found?.[1] ?? '').get('href');
    if (address === undefined) {
      throw new Error(`There is no link ${link} at “${page.heading}”:\n${page.text}`);
    }
    return this.#go(new URL(address, page.url), { headers: { 'sec-fetch-site': 'same-origin' } });
  }

  async #go(start: URL, first: RequestInit): Promise<Page> {
    let url = start;
    let request: RequestInit = first;
    for (let count = 0; count <= MAX_REDIRECTS; count += 1) {
      if (url.origin !== this.#origin) {
        return new Page(url, 303, new Headers(), '', true);
      }
      const response = await this.#send(url, request);
      const location = response.headers.get('location');
      if (location === null) {
        return new Page(url, response.status, response.headers, await response.text(), false);
      }
      await response.arrayBuffer();
      url = new URL(location, url);
      request = { headers: { 'sec-fetch-site': new Headers(first.headers).get('sec-fetch-site') ?? 'none' } };
    }
    throw new Error(`More than ${MAX_REDIRECTS} redirects, the last to ${url}.`);
  }

  async #send(url: URL, { headers, ...request }: RequestInit): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      ...request,
      redirect: 'manual',
      headers: { ...(headers as Record<string, string>), ...(cookie !== '' && { cookie }) },
    });
    for (const line of response.headers.getSetCookie()) {
      this.#keep(line);
    }
    return response;
  }

  #keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (/;\s*Max-Age=0\b/i.test(line)) {
      this.#cookies.delete(name);
    } else {
      this.#cookies.set(name, value);
    }
  }
}

function formsOf(html: string): { action: string; content: string }[] {
  return [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, attributes = '', content = '']) => ({
    action: attributesOf(attributes).get('action') ?? '',
    content,
  }));
}

function buttonOf(html: string, wanted: string): Map<string, string> | undefined {
  return tagsOf(html, 'button').find((button) => [button.get('id'), button.get('value')].includes(wanted));
}

function inputsOf(html: string): Map<string, string> {
  return new Map(tagsOf(html, 'input').map((input) => [input.get('name') ?? '', input.get('value') ?? '']));
}

function tagsOf(html: string, name: string): Map<string, string>[] {
  const tags = html.matchAll(new RegExp(`<${name}\\b((?:[^>"]|"[^"]*")*)>`, 'g'));
  return [...tags].map(([, attributes = '']) => attributesOf(attributes));
}

function attributesOf(text: string): Map<string, string> {
  return new Map(
    [...text.matchAll(/([a-z-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, unescaped(value)]),
  );
}

function textOf(html: string): string {
  return unescaped(html.replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();
}

function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}

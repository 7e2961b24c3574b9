/* Sends requests from the references to the demo environment. Stores values in this tab only. */
{
  const KEPT = 'docs-try-';
  const SHOWN_HEADERS = ['etag', 'link', 'x-request-id', 'retry-after', 'x-ratelimit-remaining'];
  const ID = /\b[a-z]{3}_[0-9A-Za-z]{22}\b/g;
  const KIND_OF_PARAMETER = { instanceIntegrationId: 'iin', clientId: 'cli', workerId: 'wrk', userId: 'usr' };

  /** Filled into the next form too. */
  const isShared = (field) => ['path', 'key', 'bearer'].includes(field.dataset.where);
  const kept = (name) => remembered('sessionStorage', KEPT + name) ?? '';
  const keep = (name, value) => remember('sessionStorage', KEPT + name, value);

  /** Suggests ids from earlier answers in fields of their kind. */
  const offers = document.createElement('div');
  document.body.append(offers);
  const learn = (text) => {
    for (const id of new Set(text.match(ID) ?? [])) {
      const kind = id.slice(0, 3);
      const known = kept(`ids-${kind}`).split(' ').filter(Boolean);
      if (!known.includes(id)) {
        keep(`ids-${kind}`, [...known, id].slice(-30).join(' '));
      }
    }
    offer();
  };
  const offer = () => {
    const lists = Object.values(KIND_OF_PARAMETER).map((kind) => {
      const list = document.createElement('datalist');
      list.id = `ids-${kind}`;
      list.append(
        ...kept(`ids-${kind}`)
          .split(' ')
          .filter(Boolean)
          .map((id) => Object.assign(document.createElement('option'), { value: id })),
      );
      return list;
    });
    offers.replaceChildren(...lists);
  };

  const requestOf = (form) => {
    const { api, method, path } = form.dataset;
    const query = new URLSearchParams();
    const body = new URLSearchParams();
    const headers = {};
    let filled = path;
    for (const field of form.querySelectorAll('[data-where]')) {
      const value = field.value.trim();
      const { where } = field.dataset;
      if (where === 'path') {
        filled = filled.replace(`{${field.name}}`, encodeURIComponent(value));
      } else if (value !== '') {
        if (where === 'query') {
          query.set(field.name, value);
        }
        if (where === 'body') {
          body.set(field.name, value);
        }
        if (where === 'header' || where === 'key') {
          headers[field.name] = value;
        }
        if (where === 'bearer') {
          headers.authorization = `Bearer ${value}`;
        }
      }
    }
    const search = query.size > 0 ? `?${query}` : '';
    // The gateway has the origin of this page, under any name.
    const origin = form.querySelector('[data-where="key"]') ? '' : api;
    const sent = method === 'POST' ? { body } : {};
    return {
      address: `${origin}${filled}${search}`,
      options: { method, headers, cache: 'no-store', ...sent },
    };
  };

  const pretty = (text) => {
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  };

  const shownAnswer = (response, text, durationMs) => {
    const kind = response.ok ? 'good' : response.status < 400 ? 'onward' : 'bad';
    const facts = SHOWN_HEADERS.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [element('span', '', `${name}: ${value}`)];
    });
    const status = element('span', `status ${kind}`, String(response.status));
    const code = element('code', '', text === '' ? '(no body)' : pretty(text));
    const pre = element('pre', '', code);
    pre.tabIndex = 0;
    pre.setAttribute('role', 'group');
    pre.setAttribute('aria-label', 'Body of the answer');
    return {
      facts: [status, element('span', '', `${Math.round(durationMs)} ms`), ...facts],
      body: [element('figure', 'code', pre)],
    };
  };

  const failed = (message) => ({ facts: [element('p', 'callout', message)] });

  /** What came, in words where nothing came. */
  const answerTo = async ({ address, options }) => {
    let request;
    try {
      request = new Request(address, options);
    } catch {
      return failed('Nothing was sent: a value has a character that no header can have, such as “…”.');
    }
    const startedAt = performance.now();
    try {
      const response = await fetch(request);
      const text = await response.text();
      learn(text);
      return shownAnswer(response, text, performance.now() - startedAt);
    } catch {
      return failed('There was no answer. Is the service running, and does it let this page ask?');
    }
  };

  /** Screen readers read the facts out, and the body where a person goes there. */
  const show = (form, { facts, body = [] }) => {
    form.querySelector('.try-facts').replaceChildren(...facts);
    form.querySelector('.try-answer').replaceChildren(...body);
  };

  const send = async (form) => {
    const asked = requestOf(form);
    form.querySelector('.try-address').textContent = `${asked.options.method} ${asked.address}`;
    const waiting = element('span', '', 'Waiting for the answer…');
    show(form, { facts: [waiting] });
    const answer = await answerTo(asked);
    // After a later request, the address is no longer that of this one.
    if (waiting.isConnected) {
      show(form, answer);
    }
  };

  /** The demo gives its key and ids to pages of its own machine; others get nothing. They are not stored. */
  let demoValues;
  const fillIn = async (form) => {
    // Demo ids are useless with another key, and the user may type a key meanwhile.
    const isFilled = () => form.querySelector('[data-where=key]')?.value !== '';
    if (isFilled()) {
      return;
    }
    demoValues ??= fetch('/docs/try-it/values', { method: 'POST', cache: 'no-store' })
      .then((answer) => (answer.status === 200 ? answer.json() : undefined))
      .catch(() => undefined);
    const values = await demoValues;
    if (!values || isFilled()) {
      return;
    }
    for (const field of form.querySelectorAll('[data-where]')) {
      const { where } = field.dataset;
      const value = where === 'key' ? values.apiKey : field.required ? values.ids[field.name] : undefined;
      field.value ||= value ?? '';
    }
    const told = 'Filled in by the demo on this machine. Change what you like.';
    form.querySelector('.send').before(element('p', 'hint try-filled', told));
  };

  for (const form of document.querySelectorAll('.try-form')) {
    for (const field of form.querySelectorAll('[data-where]')) {
      const kind = KIND_OF_PARAMETER[field.name];
      if (kind) {
        field.setAttribute('list', `ids-${kind}`);
      }
      if (isShared(field)) {
        field.value = kept(field.name);
      }
    }
    form.addEventListener('input', ({ target }) => {
      if (isShared(target)) {
        keep(target.name, target.value.trim());
      }
    });
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      send(form);
    });
    form.querySelector('button').disabled = false;
  }
  if (document.querySelector('.try-form')) {
    offer();
  }

  /** A value typed in one form appears in the others too. */
  document.addEventListener(
    'toggle',
    ({ target }) => {
      for (const field of target.querySelectorAll?.('.try-form [data-where]') ?? []) {
        if (isShared(field) && field.value === '') {
          field.value = kept(field.name);
        }
      }
      for (const form of target.matches?.('details.try[open]') ? target.querySelectorAll('.try-form') : []) {
        fillIn(form);
      }
    },
    true,
  );
}

/* Searches an index from the build, in the browser. */
{
  const MAX_RESULTS = 12;
  const SNIPPET_LENGTH = 130;
  const box = document.querySelector('.search');
  const input = document.getElementById('search');
  const list = document.getElementById('search-results');
  const status = document.getElementById('search-status');
  let index;
  let selected = -1;

  const load = () => {
    index ??= fetch('/docs/assets/search.json')
      .then((response) => response.json())
      .then((entries) => entries.map((entry) => ({ ...entry, title: plain(entry.t), text: plain(entry.x) })));
    return index;
  };
  const plain = (text) => text.toLowerCase();

  /** All words must occur; headings count more, and their beginnings most. */
  const scoreOf = ({ title, text, u }, words) => {
    let score = u.includes('#') ? 0 : 2;
    for (const word of words) {
      const inTitle = title.indexOf(word);
      if (inTitle >= 0) {
        score += inTitle === 0 ? 30 : 18;
      } else if (text.includes(word)) {
        score += 3;
      } else {
        return 0;
      }
    }
    return title === words.join(' ') ? score + 40 : score;
  };

  const find = (entries, words) =>
    entries
      .map((entry) => ({ entry, score: scoreOf(entry, words) }))
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score)
      .slice(0, MAX_RESULTS)
      .map(({ entry }) => entry);

  const element = (name, ...children) => {
    const made = document.createElement(name);
    made.append(...children);
    return made;
  };

  const marked = (text, words) => {
    const at = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0);
    const start = Math.max(0, Math.min(...(at.length > 0 ? at : [0])) - 40);
    const cut = text.slice(start, start + SNIPPET_LENGTH);
    const pattern = new RegExp(
      `(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`,
      'i',
    );
    const pieces = cut.split(pattern);
    return [
      start > 0 ? '… ' : '',
      ...pieces.map((piece, place) => (place % 2 === 1 ? element('mark', piece) : piece)),
      start + SNIPPET_LENGTH < text.length ? ' …' : '',
    ];
  };

  const option = (entry, words, place) => {
    const link = element(
      'a',
      element('b', entry.t),
      element('span', entry.p),
      element('span', ...marked(entry.x, words)),
    );
    link.href = entry.u;
    link.tabIndex = -1;
    const item = element('li', link);
    item.id = `search-result-${place}`;
    item.setAttribute('role', 'option');
    item.setAttribute('aria-selected', 'false');
    return item;
  };

  const show = (results, words) => {
    selected = -1;
    input.removeAttribute('aria-activedescendant');
    list.replaceChildren(...results.map((entry, place) => option(entry, words, place)));
    const isOpen = words.length > 0 && results.length > 0;
    list.hidden = !isOpen;
    input.setAttribute('aria-expanded', String(isOpen));
    status.textContent =
      words.length === 0 ? '' : results.length === 0 ? 'Nothing found' : `${results.length} found`;
    box.classList.toggle('nothing', words.length > 0 && results.length === 0);
  };

  const look = async () => {
    const asked = input.value;
    const words = plain(asked).split(/\s+/).filter(Boolean);
    const entries = await load();
    if (input.value === asked) {
      show(words.length === 0 ? [] : find(entries, words), words);
    }
  };

  const select = (step) => {
    const items = [...list.children];
    if (items.length === 0) {
      return;
    }
    items[selected]?.setAttribute('aria-selected', 'false');
    selected = (selected + step + items.length) % items.length;
    const item = items[selected];
    item.setAttribute('aria-selected', 'true');
    item.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', item.id);
  };

  const keys = {
    ArrowDown: () => select(1),
    ArrowUp: () => select(selected < 0 ? 0 : -1),
    Enter: () => (list.children[Math.max(selected, 0)]?.querySelector('a') ?? { click() {} }).click(),
    Escape: () => {
      input.value = '';
      show([], []);
    },
  };

  input.addEventListener('input', look);
  input.addEventListener('focus', load);
  input.addEventListener('keydown', (event) => {
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest('input, textarea, select');
    if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
    }
  });
  document.addEventListener('click', ({ target }) => {
    if (!box.contains(target) || target.closest('a')) {
      show([], []);
    }
  });
  box.hidden = false;
}

/* Searches an index from the build, in the browser. */
{
  const SNIPPET_LENGTH = 130;
  /** As much as precedes the first of the found words. */
  const LEAD_LENGTH = 40;
  const box = document.querySelector('.search');
  const input = document.getElementById('search');
  const list = document.getElementById('search-results');
  const status = document.getElementById('search-status');
  let finder;
  let selected = -1;

  /** Engine and index come with the first use. Undefined if loading failed; the next use retries. */
  const load = () => {
    finder ??= Promise.all([
      import('/docs/assets/finder.js'),
      fetch('/docs/assets/search.json').then((response) => {
        if (!response.ok) {
          throw new Error(`Status ${response.status}`);
        }
        return response.json();
      }),
    ])
      .then(([{ finderOf }, entries]) => finderOf(entries))
      .catch(() => {
        finder = undefined;
      });
    return finder;
  };

  /** Found words consist of letters, digits and underscores: nothing in them needs escaping. */
  const marked = (text, words) => {
    const pattern = `(?<![\\p{L}\\p{N}])(${[...words].sort((one, other) => other.length - one.length).join('|')})`;
    const found = Math.max(0, text.search(new RegExp(pattern, 'iu')));
    const start = found <= LEAD_LENGTH ? 0 : Math.min(found, text.indexOf(' ', found - LEAD_LENGTH) + 1);
    const end = start + SNIPPET_LENGTH;
    const cut = end < text.length ? text.slice(start, text.lastIndexOf(' ', end)) : text.slice(start);
    const pieces = cut.split(new RegExp(pattern, 'iu'));
    return [
      start > 0 ? '… ' : '',
      ...pieces.map((piece, place) => (place % 2 === 1 ? element('mark', '', piece) : piece)),
      end < text.length ? ' …' : '',
    ];
  };

  const option = (entry, place) => {
    const link = element(
      'a',
      '',
      element('b', '', entry.t),
      element('span', '', entry.p),
      element('span', '', ...marked(entry.x, entry.terms)),
    );
    link.href = entry.u;
    link.tabIndex = -1;
    const item = element('li', '', link);
    item.id = `search-result-${place}`;
    item.setAttribute('role', 'option');
    item.setAttribute('aria-selected', 'false');
    return item;
  };

  // Some browsers keep a failed import for as long as the page.
  const NOT_LOADED = 'The search could not be loaded. Type again to retry, or load the page again.';

  /** Shows results, or in their place a message. */
  const show = (results, message = '') => {
    selected = -1;
    input.removeAttribute('aria-activedescendant');
    list.replaceChildren(...results.map(option));
    const isOpen = results.length > 0;
    list.hidden = !isOpen;
    input.setAttribute('aria-expanded', String(isOpen));
    status.className = message === '' ? 'unseen' : 'results';
    status.textContent = isOpen ? `${results.length} shown` : message;
  };

  const look = async () => {
    const asked = input.value;
    const find = await load();
    if (input.value !== asked || document.activeElement !== input) {
      return;
    }
    const results = find?.(asked) ?? [];
    const isMissed = results.length === 0 && asked.trim() !== '';
    const missed = `Nothing found for “${asked.trim()}”. Try another word, or a shorter one.`;
    show(results, isMissed ? (find ? missed : NOT_LOADED) : '');
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
      if (list.hidden) {
        input.value = '';
      }
      show([]);
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
  /** Ctrl-K (Command-K), from anywhere. */
  const isShortcut = ({ key, ctrlKey, metaKey, altKey, shiftKey }) =>
    !altKey && !shiftKey && ctrlKey !== metaKey && key.toLowerCase() === 'k';
  document.addEventListener('keydown', (event) => {
    if (isShortcut(event)) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
  document.addEventListener('click', ({ target }) => {
    if (!box.contains(target) || target.closest('a')) {
      show([]);
    }
  });
  /** Without a next element, the click above closes them, or the window has lost the focus. */
  box.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget && !box.contains(relatedTarget)) {
      show([]);
    }
  });
  box.hidden = false;
}

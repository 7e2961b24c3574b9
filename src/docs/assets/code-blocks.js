/* Copy buttons, one choice of language for all pages, and keyboard access to code blocks. */
const remembered = (storage, name) => {
  try {
    return window[storage].getItem(name);
  } catch {
    return null;
  }
};
const remember = (storage, name, value) => {
  try {
    window[storage].setItem(name, value);
  } catch {
    // Without storage the value applies to this page.
  }
};
{
  const LANGUAGE = 'docs-language';

  const choose = (value) => {
    for (const radio of document.querySelectorAll('.choices input')) {
      if (radio.value === value) {
        radio.checked = true;
      }
    }
  };

  document.addEventListener('change', ({ target }) => {
    if (target.matches('.choices input')) {
      const top = target.getBoundingClientRect().top;
      choose(target.value);
      if (target.matches('.languages input')) {
        remember('localStorage', LANGUAGE, target.value);
      }
      // Tabs above may have changed their height.
      scrollBy(0, target.getBoundingClientRect().top - top);
    }
  });

  const copyButton = (code) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      const isCopied = await navigator.clipboard.writeText(code.textContent).then(
        () => true,
        () => false,
      );
      button.textContent = isCopied ? 'Copied' : 'Not copied';
      button.classList.toggle('done', isCopied);
      setTimeout(() => {
        button.textContent = 'Copy';
        button.classList.remove('done');
      }, 2_000);
    });
    return button;
  };

  for (const figure of document.querySelectorAll('.code')) {
    const code = figure.querySelector('code');
    if (navigator.clipboard) {
      figure.append(copyButton(code));
    }
  }

  /** Elements that scroll sideways must be reachable by keyboard. */
  const reach = () => {
    for (const box of document.querySelectorAll('.code pre, .table')) {
      if (box.scrollWidth > box.clientWidth) {
        box.tabIndex = 0;
        box.setAttribute('role', 'group');
        box.setAttribute('aria-label', `${box.localName === 'pre' ? 'Code' : 'Table'}, scrolls sideways`);
      }
    }
  };
  addEventListener('resize', reach);
  document.addEventListener('toggle', reach, true);
  document.addEventListener('change', reach);
  const language = remembered('localStorage', LANGUAGE);
  if (language !== null) {
    choose(language);
  }
  reach();

  /** Unfolds the target of an address. */
  const unfold = () => {
    let target;
    try {
      target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      // The address has a percent sign that encodes nothing.
    }
    for (let at = target?.parentElement; at; at = at.parentElement) {
      if (at.localName === 'details') {
        at.open = true;
      }
    }
  };
  addEventListener('hashchange', unfold);
  unfold();
}

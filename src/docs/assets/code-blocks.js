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
const element = (name, className, ...children) => {
  const made = document.createElement(name);
  made.className = className;
  made.append(...children);
  return made;
};
/** Copies when the button is clicked, and tells the outcome for a moment, on the button and to screen readers. */
const copyAtClick = (button, copy, failed) => {
  const name = button.textContent;
  const status = document.getElementById('copy-status');
  button.addEventListener('click', async () => {
    button.textContent = await copy().then(
      () => 'Copied',
      () => failed,
    );
    status.textContent = button.textContent;
    setTimeout(() => {
      button.textContent = name;
      status.textContent = '';
    }, 2_000);
  });
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

  for (const figure of navigator.clipboard ? document.querySelectorAll('.code') : []) {
    const code = figure.querySelector('code');
    const button = element('button', 'copy', 'Copy');
    button.type = 'button';
    copyAtClick(button, () => navigator.clipboard.writeText(code.textContent), 'Not copied');
    figure.append(button);
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

  /** Opens the target of the fragment, such as a form, and each `details` element around it. */
  const unfold = () => {
    let target;
    try {
      target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      // The address has a percent sign that encodes nothing.
    }
    for (let at = target; at; at = at.parentElement) {
      if (at.localName === 'details') {
        at.open = true;
      }
    }
  };
  addEventListener('hashchange', unfold);
  unfold();
}

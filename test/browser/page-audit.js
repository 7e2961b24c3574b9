/** Runs inside a page, as an expression. Lists accessibility faults in words. */
({ paleness, hasText }) => {
  const faults = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const shown = (element) => element.getClientRects().length > 0;
  const words = (element) => element.textContent.replace(/\s+/g, ' ').trim();
  const say = (fault, element) =>
    faults.push(element ? `${fault}: ${element.outerHTML.slice(0, 90)}` : fault);

  const structure = () => {
    for (const [selector, what] of [
      ['h1', 'heading'],
      ['main', 'main part'],
      ['footer', 'footer'],
    ]) {
      if (all(selector).length !== 1) {
        say(`${all(selector).length} times ${what}`);
      }
    }
    if (!all('main h1').length) {
      say('the heading stands outside of the main part');
    }
    if (!document.documentElement.lang) {
      say('no language');
    }
    if (!document.title) {
      say('no title');
    }
    const ids = all('[id]').map(({ id }) => id);
    if (new Set(ids).size !== ids.length) {
      say(`an id occurs twice: ${ids}`);
    }
    for (const odd of all('script:not(body > script), script ~ :not(script)')) {
      say('scripts stand elsewhere than last in the body', odd);
    }
    for (const odd of all('iframe, object, [style], [onclick], [tabindex]')) {
      say('it has no place here', odd);
    }
  };

  const names = () => {
    for (const input of all('input:not([type=hidden])')) {
      if (![...input.labels].some(words)) {
        say('no label', input);
      }
      if (!input.autocomplete) {
        say('nothing for password managers', input);
      }
    }
    for (const field of all('textarea')) {
      if (!field.getAttribute('aria-label')) {
        say('no label', field);
      }
    }
    for (const control of all('a, button, summary')) {
      if (!words(control)) {
        say('no name', control);
      }
    }
    for (const element of all('[aria-describedby], [aria-labelledby]')) {
      const ids = `${element.getAttribute('aria-describedby') ?? ''} ${element.getAttribute('aria-labelledby') ?? ''}`;
      for (const id of ids.split(' ').filter(Boolean)) {
        if (!document.getElementById(id)) {
          say(`no #${id}`, element);
        }
      }
    }
    for (const image of all('svg')) {
      if (image.getAttribute('aria-hidden') !== 'true') {
        say('a picture is read out', image);
      }
    }
  };

  const room = () => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) {
      say(`${scrollWidth - clientWidth} pixels stand beyond the edge`);
    }
    for (const control of all('button, input:not([type=hidden]), a.button')) {
      const { width, height } = control.getBoundingClientRect();
      if (height < 44 || width < 44) {
        say(`too small for a finger (${width} × ${height})`, control);
      }
    }
    for (const element of all('main *:not(input)')) {
      if (
        shown(element) &&
        element.scrollWidth > element.clientWidth + 1 &&
        getComputedStyle(element).display !== 'inline' &&
        element.namespaceURI.endsWith('xhtml')
      ) {
        say('text is cut or runs out', element);
      }
    }
  };

  const against = (element, color, least, what) => {
    for (const fault of paleness(element, color, least, what)) {
      say(fault, element);
    }
  };
  const colours = () => {
    for (const element of all('body *')) {
      const said = hasText(element) || (element.localName === 'input' && element.type !== 'hidden');
      if (said && shown(element)) {
        against(element, getComputedStyle(element).color, 4.5, 'text');
      }
    }
    for (const input of all('input:not([type=hidden]):not([readonly])')) {
      against(input.parentElement, getComputedStyle(input).borderTopColor, 3, 'the edge of a field');
    }
  };

  for (const look of [structure, names, room, colours]) {
    look();
  }
  return faults;
};

/** Runs inside a page of the documentation, as an expression. Lists accessibility faults in words. */
({ paleness, hasText }) => {
  const faults = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const shown = (element) => element.getClientRects().length > 0;
  const words = (element) => element.textContent.replace(/\s+/g, ' ').trim();
  const say = (fault, element) =>
    faults.push(element ? `${fault}: ${element.outerHTML.slice(0, 90)}` : fault);
  for (const folded of all('details')) {
    folded.open = true;
  }

  const structure = () => {
    for (const selector of ['main', 'main h1', 'body > header', 'footer', '.skip']) {
      if (all(selector).length !== 1) {
        say(`${all(selector).length} times ${selector}`);
      }
    }
    if (document.body.firstElementChild !== document.querySelector('.skip')) {
      say('the way to the content is not first');
    }
    const navigations = all('nav').map((nav) => nav.getAttribute('aria-label'));
    if (navigations.some((name) => !name) || new Set(navigations).size !== navigations.length) {
      say(`navigations cannot be told apart: ${navigations}`);
    }
    if (!document.documentElement.lang) {
      say('no language');
    }
    if (!document.title) {
      say('no title');
    }
    const ids = all('[id]').map(({ id }) => id);
    const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
    if (twice.length > 0) {
      say(`an id occurs twice: ${twice}`);
    }
    for (const odd of all(
      'iframe, object, [style], [onclick], [tabindex]:not([tabindex="0"], [tabindex="-1"])',
    )) {
      say('it has no place here', odd);
    }
    let level = 0;
    for (const heading of all('h1, h2, h3, h4, h5, h6')) {
      const own = Number(heading.localName[1]);
      if (own > level + 1) {
        say(`a level is left out before`, heading);
      }
      level = own;
    }
  };

  const names = () => {
    for (const field of all('input, select')) {
      if (![...field.labels].some(words)) {
        say('no label', field);
      }
    }
    for (const control of all('a, button, summary')) {
      if (!words(control) && !control.getAttribute('aria-label')) {
        say('no name', control);
      }
    }
    for (const element of all('[aria-describedby], [aria-labelledby], [aria-controls]')) {
      const ids = ['aria-describedby', 'aria-labelledby', 'aria-controls'].flatMap((name) =>
        (element.getAttribute(name) ?? '').split(' '),
      );
      for (const id of ids.filter(Boolean)) {
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

  const scrolls = (element) => {
    for (let box = element; box && box !== document.body; box = box.parentElement) {
      if (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(box).overflowX)) {
        return true;
      }
    }
    return false;
  };

  const room = () => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) {
      say(`${scrollWidth - clientWidth} pixels stand beyond the edge`);
    }
    for (const element of all('body *').filter(shown)) {
      const { right } = element.getBoundingClientRect();
      if (right > clientWidth + 1 && !scrolls(element)) {
        say(`it ends ${Math.round(right - clientWidth)} pixels beyond the edge`, element);
      }
    }
    for (const control of all('main .button, button[type=submit], .field input, .field select, .menu').filter(
      shown,
    )) {
      const { width, height } = control.getBoundingClientRect();
      if (height < 44 || width < 44) {
        say(`too small for a finger (${width} × ${height})`, control);
      }
    }
    for (const box of all('.code pre, .table').filter(shown)) {
      if (box.scrollWidth > box.clientWidth && box.tabIndex !== 0) {
        say('it scrolls, and not by keyboard', box);
      }
    }
  };

  const against = (element, color, least, what) => {
    for (const fault of paleness(element, color, least, what)) {
      say(fault, element);
    }
  };
  const colours = () => {
    for (const element of all('body *').filter(shown)) {
      if (hasText(element)) {
        against(element, getComputedStyle(element).color, 4.5, 'text');
      }
    }
    for (const field of all('.field input, .field select, .search input').filter(shown)) {
      against(field.parentElement, getComputedStyle(field).borderTopColor, 3, 'the edge of a field');
    }
    for (const field of all('.search input')) {
      against(field, getComputedStyle(field, '::placeholder').color, 4.5, 'what stands in an empty field');
    }
  };

  for (const look of [structure, names, room, colours]) {
    look();
  }
  return faults;
};

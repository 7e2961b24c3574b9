/**
 * Runs inside a page, as an expression. Prepares a walk by the Tab key from the beginning of an element to the
 * end of the page, and records faults in `focusWalk`: stops that are invisible, out of reading order, or skipped.
 */
(start) => {
  const TABBABLE =
    'a[href], area[href], button, input:not([type=hidden]), select, textarea, summary, iframe, [contenteditable], [tabindex]:not([tabindex="-1"])';
  const describe = (element) => element.outerHTML.replace(/\s+/g, ' ').slice(0, 90);
  const isReached = (element) =>
    !element.disabled &&
    (element.type !== 'radio' || element.checked) &&
    element.checkVisibility({ visibilityProperty: true });
  const follows = (element, other) =>
    Boolean(other.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING);
  const expected = [...document.querySelectorAll(TABBABLE)].filter(
    (element) => isReached(element) && follows(element, start),
  );
  const faults = [];
  const stops = [];
  const fault = (what, element) => faults.push(`${what}: ${describe(element)}`);
  for (const element of expected) {
    if (element.closest('[aria-hidden=true]')) {
      fault('it is kept from those who listen, and gets the focus', element);
    }
  }

  /** A radio button is drawn as what stands after it. */
  const drawn = (element) => (element.type === 'radio' ? element.nextElementSibling : element);
  const isWithin = ({ left, right, top, bottom }) =>
    right > left && bottom > top && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
  const isUncovered = (element, seen, box) => {
    const x = (Math.max(box.left, 0) + Math.min(box.right, innerWidth)) / 2;
    const y = (Math.max(box.top, 0) + Math.min(box.bottom, innerHeight)) / 2;
    const top = document.elementFromPoint(x, y);
    return [element, seen, element.closest('label')].some((part) => part?.contains(top));
  };
  const look = (element) => {
    const before = stops.at(-1);
    if (before && !follows(element, before)) {
      fault('it comes after what is read later', element);
    }
    const seen = drawn(element);
    const { outlineStyle, outlineWidth } = getComputedStyle(seen);
    if (outlineStyle !== 'solid' || outlineWidth !== '3px') {
      fault('nothing shows that it has the focus', element);
    }
    const boxes = [...seen.getClientRects()].filter(isWithin);
    if (!boxes.some((box) => isUncovered(element, seen, box))) {
      fault('it has the focus and cannot be seen', element);
    }
    stops.push(element);
  };

  let isAround = false;
  // When the key comes up again the page has moved to what has the focus.
  addEventListener(
    'keyup',
    () => {
      const element = document.activeElement;
      isAround ||= !follows(element, start) || stops.includes(element);
      if (!isAround) {
        look(element);
      }
    },
    true,
  );
  start.tabIndex = -1;
  start.focus();
  start.removeAttribute('tabindex');
  globalThis.focusWalk = {
    length: expected.length,
    seen: () => {
      for (const element of expected) {
        if (!stops.includes(element)) {
          fault('the Tab key does not get there', element);
        }
      }
      return { faults, stops: stops.map(describe) };
    },
  };
  return expected.length;
};

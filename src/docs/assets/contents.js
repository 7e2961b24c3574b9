/* Marks the present section in the list of sections and among all pages, and scrolls there to the present page.
   Escape closes this list on a phone. */
{
  /** A heading becomes the present one this far below the header. */
  const REACH_PIXELS = 120;
  const side = document.getElementById('navigation');
  const ofThisPage = [...side.querySelectorAll('li li a')].filter(
    ({ pathname }) => pathname === location.pathname,
  );
  const links = [...document.querySelectorAll('.toc a'), ...ofThisPage].map((link) => ({
    heading: document.getElementById(decodeURIComponent(link.hash.slice(1))),
    link,
  }));
  let awaited = false;

  const mark = () => {
    awaited = false;
    const tops = links.map(({ heading }) => heading.getBoundingClientRect().top);
    const present = Math.max(...tops.filter((top) => top < REACH_PIXELS));
    links.forEach(({ link }, at) => {
      if (tops[at] === present) {
        link.setAttribute('aria-current', 'true');
      } else {
        link.removeAttribute('aria-current');
      }
    });
  };

  if (links.length > 0) {
    addEventListener('scroll', () => {
      if (!awaited) {
        awaited = true;
        requestAnimationFrame(mark);
      }
    });
    mark();
  }

  const page = side.querySelector('[aria-current]');
  if (page && page.offsetTop > side.clientHeight) {
    side.scrollTop = page.offsetTop - side.clientHeight / 2;
  }

  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape' && location.hash === '#navigation') {
      location.hash = '#content';
    }
  });
}

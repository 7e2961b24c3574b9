/* Marks the present section, and scrolls the present page into view, in their lists. */
{
  /** A heading becomes the present one this far below the header. */
  const REACH_PIXELS = 120;
  const links = new Map(
    [...document.querySelectorAll('.toc a')].map((link) => [
      document.getElementById(decodeURIComponent(link.hash.slice(1))),
      link,
    ]),
  );
  let awaited = false;

  const mark = () => {
    awaited = false;
    let present;
    for (const [heading, link] of links) {
      link.removeAttribute('aria-current');
      if (heading.getBoundingClientRect().top < REACH_PIXELS) {
        present = link;
      }
    }
    present?.setAttribute('aria-current', 'true');
  };

  if (links.size > 0) {
    addEventListener('scroll', () => {
      if (!awaited) {
        awaited = true;
        requestAnimationFrame(mark);
      }
    });
    mark();
  }

  const side = document.getElementById('navigation');
  const page = side.querySelector('[aria-current]');
  if (page && page.offsetTop > side.clientHeight) {
    side.scrollTop = page.offsetTop - side.clientHeight / 2;
  }
}

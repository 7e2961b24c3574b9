/* Copies the page as Markdown. */
{
  const button = document.querySelector('.page-text button');
  if (button && navigator.clipboard && 'ClipboardItem' in window) {
    const name = button.textContent;
    const load = async () => {
      const response = await fetch(`${location.pathname}.md`);
      if (!response.ok) {
        throw new Error(`Status ${response.status}`);
      }
      return new Blob([await response.text()], { type: 'text/plain' });
    };
    button.hidden = false;
    button.addEventListener('click', async () => {
      // Safari refuses to copy later than in the click itself: the text is promised.
      const item = new ClipboardItem({ 'text/plain': load() });
      button.textContent = await navigator.clipboard.write([item]).then(
        () => 'Copied',
        () => 'Not copied. Try again.',
      );
      setTimeout(() => {
        button.textContent = name;
      }, 2_000);
    });
  }
}

/* Copies the page as Markdown. */
{
  const button = document.querySelector('.page-text button');
  if (button && navigator.clipboard) {
    const load = async () => {
      const response = await fetch(`${location.pathname}.md`);
      if (!response.ok) {
        throw new Error(`Status ${response.status}`);
      }
      return response.text();
    };
    const copy = async () => {
      // Firefox has it since version 127.
      if (!('ClipboardItem' in window)) {
        return navigator.clipboard.writeText(await load());
      }
      // Safari refuses to copy later than in the click itself: the text is promised.
      const text = load().then((loaded) => new Blob([loaded], { type: 'text/plain' }));
      return navigator.clipboard.write([new ClipboardItem({ 'text/plain': text })]);
    };
    button.hidden = false;
    copyAtClick(button, copy, 'Not copied. Try again.');
  }
}

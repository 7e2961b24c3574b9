/* Copies the page as Markdown. */
{
  const button = document.querySelector('.page-text button');
  if (button && navigator.clipboard) {
    const name = button.textContent;
    button.hidden = false;
    button.addEventListener('click', async () => {
      const response = await fetch(`${location.pathname}.md`);
      await navigator.clipboard.writeText(await response.text());
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = name;
      }, 2_000);
    });
  }
}

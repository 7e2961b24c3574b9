/* The colours that were chosen, before anything is drawn; otherwise those of the system. */
{
  const KEY = 'docs-theme';
  const root = document.documentElement;
  const systemDark = matchMedia('(prefers-color-scheme: dark)');
  const kept = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  };
  /** A choice that is that of the system is no choice: the page follows the system again. */
  const keep = (theme, isOfSystem) => {
    try {
      if (isOfSystem) {
        localStorage.removeItem(KEY);
      } else {
        localStorage.setItem(KEY, theme);
      }
    } catch {
      // Without storage the choice applies to this page.
    }
  };
  const show = (theme) => {
    if (theme === 'light' || theme === 'dark') {
      root.dataset.theme = theme;
    } else {
      delete root.dataset.theme;
    }
  };
  const isDark = () => (root.dataset.theme ?? (systemDark.matches ? 'dark' : 'light')) === 'dark';

  show(kept());
  addEventListener('DOMContentLoaded', () => {
    const button = document.querySelector('.theme');
    const tell = () => button.setAttribute('aria-pressed', String(isDark()));
    button.addEventListener('click', () => {
      const theme = isDark() ? 'light' : 'dark';
      const isOfSystem = (theme === 'dark') === systemDark.matches;
      keep(theme, isOfSystem);
      show(isOfSystem ? null : theme);
      tell();
    });
    systemDark.addEventListener('change', tell);
    // Another tab has chosen.
    addEventListener('storage', ({ key, newValue }) => {
      if (key === KEY) {
        show(newValue);
        tell();
      }
    });
    button.hidden = false;
    tell();
  });
}

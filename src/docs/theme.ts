const DARK = /@media \(prefers-color-scheme: dark\) \{\s*:root \{([^}]*)\}\s*\}/g;

/** Style whose dark colours follow the system or, with `data-theme`, the choice of the reader. */
export function switchable(style: string): string {
  const chosen =
    ':root[data-theme="light"] { color-scheme: light; }\n:root[data-theme="dark"] { color-scheme: dark; }\n';
  const colours = style.replace(
    DARK,
    (_, dark: string) =>
      `@media (prefers-color-scheme: dark) {\n  :root:not([data-theme="light"]) {${dark}}\n}\n:root[data-theme="dark"] {${dark}}`,
  );
  return `${colours}${chosen}`;
}

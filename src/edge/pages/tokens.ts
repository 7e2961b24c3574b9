/** The colours of all pages, light and dark; the documentation shares them. */
export const TOKENS = `:root {
  color-scheme: light dark;
  --ground: #eef0f6; --glow: #dfe4f7; --card: #ffffff; --line: #dde1ec; --edge: #868ea6;
  --text: #171b2b; --soft: #565e76; --accent: #3a49c9; --accent-strong: #2c38a3; --on-accent: #ffffff;
  --tint: #f1f3fd; --bad: #ab1f2d; --bad-tint: #fdf0f1; --bad-line: #efc3c8; --good: #17704a; --good-tint: #e8f6ef;
  --demo: #fdeebf; --on-demo: #553d00; --shadow: 0 1px 2px rgb(23 27 43 / 6%), 0 16px 40px -12px rgb(23 27 43 / 16%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f121b; --glow: #1a2040; --card: #181c29; --line: #2b3143; --edge: #7d86a1;
    --text: #eceef6; --soft: #a6aec4; --accent: #9aa6ff; --accent-strong: #b6bfff; --on-accent: #12163a;
    --tint: #20263a; --bad: #ff9ba3; --bad-tint: #351c23; --bad-line: #6b2f39; --good: #7edcb0; --good-tint: #17322a;
    --demo: #43350c; --on-demo: #fbe6a9; --shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 16px 40px -12px rgb(0 0 0 / 60%);
  }
}
`;

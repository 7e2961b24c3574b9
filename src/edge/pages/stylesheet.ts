import { TOKENS } from './tokens.js';

/** The whole style. Light and dark follow the system; sizes follow the text size of the browser. */
export const stylesheet = `
${TOKENS}*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; min-height: 100svh; display: flex; flex-direction: column;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  color: var(--text);
  background: radial-gradient(70rem 32rem at 50% -10rem, var(--glow), transparent) no-repeat var(--ground);
}
.demo { margin: 0; padding: .55rem 1rem; text-align: center; font-size: .875rem; background: var(--demo); color: var(--on-demo); }
.frame { flex: 1; display: flex; flex-direction: column; align-items: center; justify-content: center; padding: 2.5rem 1.25rem 2rem; }
.column { width: 100%; max-width: 26.5rem; }
.brand { display: flex; align-items: center; justify-content: center; gap: .6rem; margin: 0 0 1.5rem; font-weight: 650; font-size: 1.0625rem; letter-spacing: -.01em; overflow-wrap: anywhere; }
.brand svg { flex: none; width: 1.9rem; height: 1.9rem; color: var(--accent); }
.brand path { fill: var(--on-accent); }
.card { padding: 2.25rem 2.25rem 2rem; background: var(--card); border: 1px solid var(--line); border-radius: 1rem; box-shadow: var(--shadow); }
b, strong, .brand span { unicode-bidi: plaintext; text-align: left; }
h1 { margin: 0; font-size: 1.4375rem; line-height: 1.3; font-weight: 680; letter-spacing: -.02em; text-wrap: pretty; overflow-wrap: break-word; }
p { margin: .5rem 0 0; text-wrap: pretty; overflow-wrap: break-word; }
.lead, .note, .hint, footer { color: var(--soft); }
.lead strong { color: var(--text); font-weight: 620; }
.note, .hint { font-size: .875rem; }
.logo { display: block; max-width: 8rem; height: 3rem; margin: 0 0 1rem; object-fit: contain; object-position: left; }
.badge { display: grid; place-items: center; width: 2.75rem; height: 2.75rem; margin: 0 0 1rem; border-radius: 50%; background: var(--tint); color: var(--accent); }
.badge svg { width: 1.4rem; height: 1.4rem; }
.badge.good { background: var(--good-tint); color: var(--good); }
.badge.bad { background: var(--bad-tint); color: var(--bad); }
form { margin: 1.5rem 0 0; }
form + form { margin-top: .65rem; }
.field { margin: 0 0 1.1rem; }
label, .label { display: block; margin: 0 0 .35rem; font-size: .875rem; font-weight: 600; }
input {
  display: block; width: 100%; min-height: 2.9rem; padding: .6rem .8rem; font: inherit; color: inherit;
  background: var(--card); border: 1px solid var(--edge); border-radius: .6rem;
}
.secret { position: relative; }
.secret input { padding-right: 4.75rem; }
.show { position: absolute; inset: 0 0 0 auto; width: auto; padding: 0 .9rem; font-size: .875rem; color: var(--accent); background: transparent; }
.show:hover { color: var(--accent-strong); background: transparent; text-decoration: underline; }
[hidden] { display: none; }
input[readonly] { background: var(--tint); border-color: var(--line); color: var(--soft); }
input[aria-invalid] { border-color: var(--bad); box-shadow: inset 0 0 0 1px var(--bad); }
.error { display: flex; gap: .4rem; margin: .45rem 0 0; font-size: .875rem; color: var(--bad); overflow-wrap: anywhere; }
.error svg { flex: none; width: 1rem; height: 1rem; margin-top: .15rem; }
.alert { margin: 1.25rem 0 0; padding: .75rem .9rem; border: 1px solid var(--bad-line); border-radius: .6rem; background: var(--bad-tint); }
.alert .error { margin: 0; }
button, .button {
  display: block; width: 100%; min-height: 2.9rem; padding: .65rem 1rem; font: inherit; font-weight: 620; text-align: center; text-decoration: none; overflow-wrap: anywhere;
  color: var(--on-accent); background: var(--accent); border: 1px solid transparent; border-radius: .6rem; cursor: pointer;
}
button:hover, .button:hover { background: var(--accent-strong); }
[data-rests] button { opacity: .6; cursor: progress; }
.quiet { color: var(--text); background: transparent; border-color: var(--edge); }
.quiet:hover { background: var(--tint); }
.actions { display: flex; flex-direction: column; gap: .65rem; margin-top: 1.5rem; }
a { color: var(--accent); text-underline-offset: .2em; }
a:hover { color: var(--accent-strong); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
input:focus-visible { outline-offset: 0; border-color: var(--accent); }
.choices { list-style: none; margin: 0; padding: 0; display: grid; gap: .65rem; }
.choices button {
  display: flex; align-items: center; gap: .85rem; padding: .8rem .9rem; text-align: left; font-weight: 400;
  color: var(--text); background: var(--card); border-color: var(--line);
}
.choices button:hover { background: var(--tint); border-color: var(--accent); }
.choices svg { flex: none; width: 1.3rem; height: 1.3rem; color: var(--accent); }
.choices .what { flex: 1; min-width: 0; overflow-wrap: anywhere; }
.choices .what b { display: block; font-weight: 620; line-height: 1.35; }
.choices .what span { display: block; font-size: .875rem; color: var(--soft); }
.last { flex: none; padding: .1rem .5rem; border-radius: 1rem; font-size: .75rem; font-weight: 600; color: var(--accent); background: var(--tint); }
.scopes { list-style: none; margin: 1.4rem 0 0; padding: .35rem 1rem; border: 1px solid var(--line); border-radius: .75rem; }
.scopes li { display: flex; gap: .75rem; padding: .7rem 0; }
.scopes li + li { border-top: 1px solid var(--line); }
.scopes svg { flex: none; width: 1.15rem; height: 1.15rem; margin-top: .2rem; color: var(--accent); }
.scopes b { display: block; font-weight: 600; }
.scopes span { display: block; font-size: .875rem; color: var(--soft); overflow-wrap: anywhere; }
.scopes div { min-width: 0; }
.note { margin-top: 1rem; }
.account { display: flex; align-items: center; gap: .75rem; margin: 1.5rem 0 0; padding: 1rem 0 0; border-top: 1px solid var(--line); font-size: .875rem; color: var(--soft); overflow-wrap: anywhere; }
.account svg { flex: none; width: 1.3rem; height: 1.3rem; }
.account b { display: block; font-weight: 500; color: var(--text); }
.facts { margin: 1.5rem 0 0; padding: 1rem 0 0; border-top: 1px solid var(--line); font-size: .8125rem; color: var(--soft); }
.facts dt { font-weight: 600; }
.facts dd { margin: 0 0 .5rem; overflow-wrap: anywhere; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.facts dd:last-child { margin: 0; }
footer { margin: 1.5rem 0 0; text-align: center; font-size: .8125rem; }
@media (max-width: 30rem) {
  .frame { justify-content: flex-start; padding: 1.75rem 1rem 1.5rem; }
  .brand { margin-bottom: 1.1rem; }
  .card { padding: 1.6rem 1.25rem 1.4rem; }
  .choices button { display: grid; grid-template-columns: auto 1fr; row-gap: .35rem; }
  .last { grid-column: 2; justify-self: start; }
}
@media (forced-colors: active) { button, .button, .card { border-color: ButtonBorder; } }
`;

import { html } from './html.js';

/** The mark for the tab, inline to save a request. */
export const FAVICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='9' fill='%233a49c9'/%3E%3Cpath d='M16 7.2a5 5 0 0 1 2.7 9.2l1.7 7a1.1 1.1 0 0 1-1.1 1.4h-6.6a1.1 1.1 0 0 1-1.1-1.4l1.7-7A5 5 0 0 1 16 7.2Z' fill='%23fff'/%3E%3C/svg%3E";

/** Decorative line drawings in the text colour, hidden from screen readers. */
const frame = (drawing: ReturnType<typeof html>) =>
  html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${drawing}</svg>`;

export const icons = {
  mark: html`<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="9" fill="currentColor"/><path d="M16 7.2a5 5 0 0 1 2.7 9.2l1.7 7a1.1 1.1 0 0 1-1.1 1.4h-6.6a1.1 1.1 0 0 1-1.1-1.4l1.7-7A5 5 0 0 1 16 7.2Z"/></svg>`,
  warning: frame(html`<circle cx="12" cy="12" r="9"/><path d="M12 7.5v5.2M12 16.3h.01"/>`),
  done: frame(html`<path d="m5 12.6 4.6 4.6L19.2 7.6"/>`),
  away: frame(
    html`<path d="M9.5 4.5h-3a2 2 0 0 0-2 2v11a2 2 0 0 0 2 2h3M15 16.2l4.2-4.2L15 7.8M19 12H9.5"/>`,
  ),
  theme: frame(
    html`<circle cx="12" cy="12" r="8.5"/><path d="M12 3.500a8.500 8.500 0 0 1 0 17Z" fill="currentColor"/>`,
  ),
  key: frame(html`<circle cx="8" cy="15.5" r="4"/><path d="m11 12.5 7.5-7.5M15.5 8l2.5 2.5"/>`),
  mail: frame(html`<rect x="3.5" y="5.5" width="17" height="13" rx="2"/><path d="m4 7.5 8 5.8 8-5.8"/>`),
  clock: frame(html`<circle cx="12" cy="12" r="8.5"/><path d="M12 7.200V12l3.200 2"/>`),
  person: frame(
    html`<circle cx="12" cy="8.2" r="3.7"/><path d="M4.8 19.5c.9-3.4 3.8-5.2 7.2-5.2s6.3 1.8 7.2 5.2"/>`,
  ),
  users: frame(
    html`<path d="M4 20.500V5.500a1.5 1.5 0 0 1 1.5-1.500h7A1.5 1.5 0 0 1 14 5.500v15M14 10h4.500A1.5 1.5 0 0 1 20 11.500v9M3 20.500h18M7.5 8h3M7.5 12h3M7.5 16h3"/>`,
  ),
  worker: frame(
    html`<rect x="3.5" y="8" width="17" height="11.5" rx="2"/><path d="M9 8V6a1.5 1.5 0 0 1 1.5-1.500h3A1.5 1.5 0 0 1 15 6v2M3.5 12.800h17"/>`,
  ),
};

/** A square that pages of both colour schemes can show. */
export const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="96" height="96"><circle cx="16" cy="16" r="15" fill="#0b675f"/><circle cx="16" cy="16" r="10.5" fill="none" stroke="#fff" stroke-width="1.4"/><path d="M16 10v6.5l4.2 2.5" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/></svg>
`;

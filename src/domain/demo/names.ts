/** Names for invented people, from many places. */
export const firstNames: readonly string[] =
  `Maren Eliseo Priya Tomasz Amara Henrik Yuki Leila Owen Sunniva Mateus Ines Dario Naledi Bram Freya Kofi
  Zofia Ravi Elin Joaquin Mirela Anselm Thandi Niko Odette Samir Greta Linus Paloma Ewan Hana`.split(/\s+/);

export const lastNames: readonly string[] =
  `Okafor Brandt Lindqvist Marchetti Delacroix Novak Tanaka Haddad Ferreira Kowalski Nilsen Abara Castellan
  Dvorak Ashgrove Petrov Quintero Bergmann Achterberg Mensah Thornbury Vasquez Ilves Sandoval Yilmaz
  Corrigan Halloran Iversen Moreau Palmgren Rosales`.split(/\s+/);

export const streets = [
  'Harbour Street',
  'Larch Lane',
  'Mill Road',
  'Station Square',
  'Orchard Row',
  'Chapel Hill',
  'Ferry Walk',
] as const;

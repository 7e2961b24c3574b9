/** The elements that say something or are sent back; of the others only the text counts. */
const PIECE = /<(\/?)(title|h1|p|ul|li|dt|dd|b|form|input|label|button|a)\b([^>]*)>|<[^>]*>|(?<text>[^<]+)/g;
const UNSEEN = /<(style|script|svg)\b[\s\S]*?<\/\1>/g;
const ATTRIBUTE = /([\w-]+)="([^"]*)"/g;
/** Of one person, sign-in or request. */
const OWN_VALUES = ['value', 'href'];
const OWN_QUERY = /(\?\w+)=.*/;

/** A piece of a page: an element with its attributes, or the text that follows one. */
type Piece = { element: string; attributes: Map<string, string> } | { text: string };

/** The title of a page and what is in its main part, in order. */
export function outlineOf(html: string): Piece[] {
  const seen = html.replace(UNSEEN, '');
  const main = /<main\b[\s\S]*<\/main>/.exec(seen)?.[0] ?? '';
  const title = /<title>.*<\/title>/.exec(seen)?.[0] ?? '';
  const pieces: Piece[] = [];
  let text = '';
  const endText = () => {
    const words = text.replace(/\s+/g, ' ').trim();
    pieces.push(...(words === '' ? [] : [{ text: words }]));
    text = '';
  };
  for (const { groups, 1: slash, 2: element, 3: attributes = '' } of (title + main).matchAll(PIECE)) {
    text += groups?.text ?? '';
    if (element !== undefined) {
      endText();
      pieces.push(...(slash === '' ? [{ element, attributes: attributesIn(attributes) }] : []));
    }
  }
  return pieces;
}

function attributesIn(text: string): Map<string, string> {
  const all = [...text.matchAll(ATTRIBUTE)].map(
    ([, name = '', value = '']) => [name, value.replace(OWN_QUERY, '$1')] as const,
  );
  return new Map(all.filter(([name, value]) => !OWN_VALUES.includes(name) && !value.startsWith('http')));
}

/** The first piece of the shown page that the real one lacks, or has elsewhere. A real page may have more. */
export function missingPiece(shown: string, real: string): string | undefined {
  const pieces = outlineOf(real);
  let next = 0;
  for (const piece of outlineOf(shown)) {
    const found = pieces.findIndex((other, index) => index >= next && isShownBy(piece, other));
    if (found === -1) {
      return 'text' in piece ? piece.text : `<${piece.element} ${[...piece.attributes].join(' ')}>`;
    }
    next = found + 1;
  }
  return undefined;
}

function isShownBy(shown: Piece, real: Piece): boolean {
  if ('text' in shown || 'text' in real) {
    return 'text' in shown && 'text' in real && shown.text === real.text;
  }
  const attributes = [...shown.attributes];
  return (
    shown.element === real.element && attributes.every(([name, value]) => real.attributes.get(name) === value)
  );
}

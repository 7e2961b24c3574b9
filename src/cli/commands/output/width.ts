/** Takes two places on a terminal: East Asian letters and signs, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\p{Emoji_Presentation}\u{20000}-\u{3fffd}]/u;
/** Takes none: what stands on the letter before it, and the joiner of emoji. */
const JOINED = /[\p{M}\u200d]/u;

/** In places of a terminal. */
export function widthOf(text: string): number {
  return [...text].reduce((sum, character) => sum + placesOf(character), 0);
}

/** The longest beginning that fits, in whole characters. */
export function cutTo(text: string, width: number): string {
  const characters = [...text];
  let room = width;
  const end = characters.findIndex((character) => {
    room -= placesOf(character);
    return room < 0;
  });
  return characters.slice(0, end === -1 ? undefined : end).join('');
}

function placesOf(character: string): number {
  if (JOINED.test(character)) {
    return 0;
  }
  return WIDE.test(character) ? 2 : 1;
}

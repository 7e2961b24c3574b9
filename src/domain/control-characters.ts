/**
 * Control characters, separators of lines and paragraphs, and what reverses the direction of text: they forge
 * lines of logs and make names look like others. Marks of direction (U+200E, U+200F, U+061C) and joiners are
 * not among them, because names in several scripts need these.
 */
const CONTROL = '[\\p{Cc}\\u2028-\\u202e\\u2066-\\u2069]';

export const ANY_CONTROL = new RegExp(CONTROL, 'u');
export const EACH_CONTROL = new RegExp(CONTROL, 'gu');

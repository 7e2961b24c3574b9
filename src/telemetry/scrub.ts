/** What credentials of this service look like, wherever they turn up in a line. */
const CREDENTIALS = [
  /\bik_(live|demo)_[0-9A-Za-z]{20,}/g,
  /\b(operator|platform|service)_(live|demo)_[0-9A-Za-z]{20,}/g,
  /\bwhsec_[0-9A-Za-z+/=]{16,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /(?<=\b(?:Bearer|Basic) )[\w+/=.~-]{8,}/gi,
  /(?<=:\/\/[^\s:/@"]+:)[^\s@/"]+(?=@)/g,
];

/** The last net: a log line without its credentials. The first is not to log them. */
export function scrub(line: string): string {
  return CREDENTIALS.reduce((text, pattern) => text.replace(pattern, '[secret]'), line);
}

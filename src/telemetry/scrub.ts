/**
 * What credentials of this service look like, wherever they turn up in a line. None asks for a word boundary before it: in JSON a line break is
 * written `\n`, and its letter would join the credential behind it.
 */
const CREDENTIALS = [
  /(ik|cs)_(live|demo)_[0-9A-Za-z]{20,}/g,
  /(operator|platform|support|auditor|key_custodian|service|edge|relay|maintenance)_(live|demo)_[0-9A-Za-z]{20,}/g,
  /whsec_[0-9A-Za-z+/=]{16,}/g,
  /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /(?<=(?:Bearer|Basic) )[\w+/=.~-]{8,}/gi,
  /(?<=:\/\/[^\s:/@"]*:)[^\s@/"]+(?=@)/g,
  // Codes, cookies, mailed links, refresh tokens and keys: base64url of 32 bytes and more, of which nothing else tells.
  /(?:(?<=\\[nrtbf])|(?<![\w\\-]))(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{43,}/g,
];

/** The last net: a log line without its credentials. The first is not to log them. */
export function scrub(line: string): string {
  return CREDENTIALS.reduce((text, pattern) => text.replace(pattern, '[secret]'), line);
}

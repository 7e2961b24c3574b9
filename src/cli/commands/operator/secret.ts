/** The one time that a secret is seen, apart from what is known of it. */
export function withSecret(facts: string, name: string, secret: string): string {
  return `${facts}\n\n${name}, shown this once:\n\n  ${secret}\n`;
}

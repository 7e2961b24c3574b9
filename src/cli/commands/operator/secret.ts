/** Shows a secret, which is possible only once, below the facts. */
export function withSecret(facts: string, name: string, secret: string): string {
  return `${facts}\n\n${name}, shown this once:\n\n  ${secret}\n`;
}

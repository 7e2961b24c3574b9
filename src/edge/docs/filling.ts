/** What differs from one environment to another. */
export interface Addresses {
  environment: 'live' | 'demo';
  gatewayUrl: string;
  signOnUrl: string;
}

const OTHER = { live: 'demo', demo: 'live' } as const;

/** A text with the addresses in their places, and without the parts for the other environment. */
export function filled(text: string, { environment, gatewayUrl, signOnUrl }: Addresses): string {
  const other = OTHER[environment];
  return text
    .replace(new RegExp(`<!--${other}-->.*?<!--/${other}-->`, 'gs'), '')
    .replace(new RegExp(`<!--/?${environment}-->`, 'g'), '')
    .replaceAll('{{gatewayUrl}}', () => gatewayUrl)
    .replaceAll('{{signOnUrl}}', () => signOnUrl);
}

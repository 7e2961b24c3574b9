/** What differs from one environment to another. */
export interface Addresses {
  environment: 'live' | 'demo';
  gatewayUrl: string;
  signOnUrl: string;
  /** Where a live installation sends those who want to try something; nowhere, unless said. */
  demoGatewayUrl?: string | undefined;
}

/** A text with the addresses in their places, and without the parts that are for others. */
export function filled(text: string, addresses: Addresses): string {
  const { environment, gatewayUrl, signOnUrl, demoGatewayUrl = '' } = addresses;
  const parts: Record<string, boolean> = {
    demo: environment === 'demo',
    live: environment === 'live',
    'live-with-demo': environment === 'live' && demoGatewayUrl !== '',
  };
  return text
    .replace(/<!--(demo|live|live-with-demo)-->(.*?)<!--\/\1-->/gs, (_, part: string, content: string) =>
      parts[part] ? content : '',
    )
    .replaceAll('{{demoGatewayUrl}}', () => demoGatewayUrl)
    .replaceAll('{{gatewayUrl}}', () => gatewayUrl)
    .replaceAll('{{signOnUrl}}', () => signOnUrl);
}

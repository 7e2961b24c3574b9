/** Values that differ between environments. */
export interface Addresses {
  environment: 'live' | 'demo';
  gatewayUrl: string;
  signOnUrl: string;
  /** The demo to which the documentation of live refers, if set. */
  demoGatewayUrl?: string | undefined;
  /** Ids of a demo for the samples, by the name of the parameter. Elsewhere these show examples. */
  demoIds?: Readonly<Record<string, string>> | undefined;
}

/** The text with the addresses and ids filled in, and without the parts for other environments. */
export function filled(text: string, addresses: Addresses): string {
  const { environment, gatewayUrl, signOnUrl, demoGatewayUrl = '', demoIds = {} } = addresses;
  const parts: Record<string, boolean> = {
    demo: environment === 'demo',
    live: environment === 'live',
    'live-with-demo': environment === 'live' && demoGatewayUrl !== '',
  };
  return text
    .replace(/<!--(demo|live|live-with-demo)-->(.*?)<!--\/\1-->/gs, (_, part: string, content: string) =>
      parts[part] ? content : '',
    )
    .replace(/\{\{(\w+Id)=(\w+)\}\}/g, (_, name: string, example: string) => demoIds[name] ?? example)
    .replaceAll('{{demoGatewayUrl}}', () => demoGatewayUrl)
    .replaceAll('{{gatewayUrl}}', () => gatewayUrl)
    .replaceAll('{{signOnUrl}}', () => signOnUrl);
}

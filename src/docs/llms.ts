import type { Page } from './page.js';

/** The index of the site for programs: all pages, with links to their text. */
export function llmsText(groups: readonly { title: string; pages: readonly Page[] }[]): string {
  const sections = groups.map(({ title, pages }) => [
    `## ${title}`,
    '',
    ...pages.map(({ path, title: name, summary }) => `- [${name}]({{gatewayUrl}}${path}.md): ${summary}`),
    '',
  ]);
  return [
    '# Integration service',
    '',
    '> Sign-on (OAuth 2.0, OpenID Connect), a read-only gateway API behind an API key, and signed webhooks for a workforce platform.',
    '',
    'Gateway: {{gatewayUrl}}. Sign-on server and issuer: {{signOnUrl}}. The contracts below are complete and exact; where prose and contract differ, the contract is right.',
    '',
    '## Contracts and SDKs',
    '',
    '- [Gateway]({{gatewayUrl}}/openapi/gateway.yaml): OpenAPI 3.1; also .json',
    '- [Sign-on]({{gatewayUrl}}/openapi/sign-on.yaml): OpenAPI 3.1; also .json',
    '- [Webhooks]({{gatewayUrl}}/asyncapi/webhooks.yaml): AsyncAPI 3.0; also .json',
    '- [TypeScript SDK]({{gatewayUrl}}/sdk/typescript): npm package',
    '- [Python SDK]({{gatewayUrl}}/sdk/python): wheel',
    '- [Go SDK]({{gatewayUrl}}/sdk/go): module; GOPROXY at {{gatewayUrl}}/sdk/go/proxy',
    '',
    ...sections.flat(),
  ].join('\n');
}

import type { Parameter, PlacedOperation } from '../contract.js';
import type { Api } from './api.js';

/** Placeholders for the reader's credentials. */
const PROOF: Record<string, string> = {
  apiKey: `-H "x-api-key: $API_KEY"`,
  accessToken: '-H "Authorization: Bearer $ACCESS_TOKEN"',
  clientBasic: '-u "$CLIENT_ID:$CLIENT_SECRET"',
};

/** Shell variables for values of a code exchange, an introspection or a revocation. */
const FORM_VALUES: Record<string, string[]> = {
  token: [
    'grant_type=authorization_code',
    'redirect_uri=$REDIRECT_URI',
    'code=$CODE',
    'code_verifier=$CODE_VERIFIER',
  ],
  revoke: ['token=$REFRESH_TOKEN'],
  introspect: ['token=$ACCESS_TOKEN'],
};

/** A curl command; undefined for what a browser does. */
export function curlOf(
  api: Api,
  { operation, method, path, parameters }: PlacedOperation,
): string | undefined {
  if (path === undefined || '303' in operation.responses) {
    return undefined;
  }
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => exampleOf(parameters, name));
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && (parameter.required || parameter.name === 'limit'))
    .map(({ name }) => `${name}=${exampleOf(parameters, name)}`);
  const search = query.length > 0 ? `?${query.join('&')}` : '';
  const form = FORM_VALUES[operation.operationId] ?? [];
  const parts = [
    method === 'post' && form.length === 0 ? 'curl -X POST' : 'curl',
    ...api.contract.securityOf(operation).map((way) => PROOF[way]),
    ...form.map((pair) => `-d "${pair}"`),
    `"${api.url}${filled}${search}"`,
  ];
  return parts.join(' \\\n  ').replace('curl \\\n  ', 'curl ');
}

function exampleOf(parameters: Parameter[], name: string): string {
  return String(parameters.find((parameter) => parameter.name === name)?.example ?? `{${name}}`);
}

/** Insecure settings that live refuses unless INSECURE_ALLOWED names them. */
export const insecurityNames = [
  'sign_on_url',
  'gateway_url',
  'postgres',
  'temporal',
  'trusted_proxies',
  'metrics',
  'webhook_networks',
] as const;

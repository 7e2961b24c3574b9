/** A block that is to be typed, by its page and how it begins. */
type Typed = readonly [slug: string, begins: string];

/** These ask a registry for packages; the tests need no network. `…-project.ts` installs what they name. */
export const NOT_TYPED: readonly (readonly [...Typed, why: string])[] = [
  ['start', 'mkdir first-call && cd first-call\nnpm', 'tsx, @types/node and jose come from the npm registry'],
  ['start', 'mkdir first-call && cd first-call\npython3', 'pydantic, urllib3 and PyJWT come from PyPI'],
  [
    'read-and-stay-in-sync',
    'mkdir copy && cd copy\nnpm',
    'tsx, @types/node and jose come from the npm registry',
  ],
  ['read-and-stay-in-sync', 'mkdir copy && cd copy\npython3', 'pydantic, urllib3 and PyJWT come from PyPI'],
  ['read-and-stay-in-sync', 'mkdir copy && cd copy\ngo', 'modernc.org/sqlite comes from the Go module proxy'],
  ['sign-in', 'npm install openid-client', 'it comes from the npm registry'],
  ['sign-in', 'pip install', 'Authlib, Flask and requests come from PyPI'],
  ['webhooks', 'npm install standardwebhooks', 'it comes from the npm registry'],
  ['webhooks', 'pip install', 'standardwebhooks comes from PyPI'],
];

/** These continue until they are ended: what they say when they are ready, and by the end of the page. */
export const ENDLESS: readonly (readonly [...Typed, ready: string, afterwards?: string])[] = [
  ['sign-in', 'npx tsx sign-in.ts', 'ready'],
  ['sign-in', 'python sign_in.py', 'ready'],
  ['sign-in', 'go run sign_in.go', 'ready'],
  ['read-and-stay-in-sync', 'npx tsx keep-copy.ts', 'complete: ', 'worker wrk_'],
  ['read-and-stay-in-sync', 'python keep_copy.py', 'complete: ', 'worker wrk_'],
  ['read-and-stay-in-sync', 'go run keep_copy.go', 'complete: ', 'worker wrk_'],
  ['webhooks', 'export WEBHOOK_SECRETS=whsec_…\nnpx', 'listening', 'client.created'],
  ['webhooks', 'export WEBHOOK_SECRETS=whsec_…\npython', 'listening', 'client.created'],
  ['webhooks', 'export WEBHOOK_SECRETS=whsec_…\ngo', 'listening', 'client.created'],
  ['mock-in-your-tests', 'curl --output gateway.yaml', 'Prism is listening'],
  ['mock-in-your-tests', 'curl --output sign-on.yaml', 'Prism is listening'],
];

/** What must be in the output of some: the others only have to end well. */
export const SAYS: readonly (readonly [...Typed, says: RegExp])[] = [
  ['start', 'npx tsx', /^Quillmere Logistics: /m],
  ['start', 'python list_workers.py', /^Quillmere Logistics: /m],
  ['start', 'go run', /^Quillmere Logistics: /m],
  ['webhooks', 'integration subscription create', /whsec_\S+\s*$/],
  ['webhooks', 'demo=/path/to/.data/demo/demo.json\nconnection=', /whsec_\S+\s*$/],
  ['mock-in-your-tests', 'npx tsx --test', /^[#ℹ] pass 3$/m],
  ['mock-in-your-tests', 'go test', /^ok /m],
  ['mock-in-your-tests', 'curl -i', /HTTP\/1.1 404[\s\S]*HTTP\/1.1 429/],
];

export const tables = { notTyped: NOT_TYPED, endless: ENDLESS, says: SAYS };

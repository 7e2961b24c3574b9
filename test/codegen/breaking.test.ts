import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { breakingInDocument, breakingInProto, release } from '../../src/codegen/breaking.js';
import { releasedDir, root } from '../../src/codegen/layout.js';
import { bundlePath, readBundle } from '../../src/codegen/steps/bundles.js';
import { temporaryDirectories } from '../support/temporary-directory.js';
import { describeWith } from '../support/toolchains.js';

const newDirectory = temporaryDirectories();

// biome-ignore lint/suspicious/noExplicitAny: a contract is edited at places named by each case.
type Contract = any;
type Edit = (contract: Contract) => void;

function parameterOf({ parameters }: Contract, wanted: string): Contract {
  return parameters.find(({ name }: Contract) => name === wanted);
}

function formOf({ requestBody }: Contract): Contract {
  return requestBody.content['application/x-www-form-urlencoded'].schema;
}

function addRequired(schema: Contract): void {
  schema.properties.taxNumber = { type: 'string' };
  schema.required.push('taxNumber');
}

const BUILDS_OASDIFF_MS = 300_000;

const refused: [what: string, contract: string, edit: Edit, said: RegExp][] = [
  [
    'a value taken from an enum of answers',
    'gateway',
    ({ components }) => components.schemas.ProblemCode.enum.splice(0, 1),
    /removed the `invalid_request` enum value .* and \d+ more\)/,
  ],
  [
    'a member taken from an answer',
    'gateway',
    ({ components }) => {
      delete components.schemas.TenantClient.properties.name;
      components.schemas.TenantClient.required = ['id', 'location'];
    },
    /removed the required property `.*name`/,
  ],
  [
    'an operation taken away',
    'gateway',
    ({ paths }) => delete paths['/v1/instance-integrations'],
    /without deprecation.*instance-integrations/,
  ],
  [
    'an operation that is deprecated without its end',
    'gateway',
    ({ paths }) => {
      paths['/v1/instance-integrations'].get.deprecated = true;
    },
    /sunset/,
  ],
  [
    'an operation that ends tomorrow',
    'gateway',
    ({ paths }) => {
      const end = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
      Object.assign(paths['/v1/instance-integrations'].get, { deprecated: true, 'x-sunset': end });
    },
    /sunset/,
  ],
  [
    'a grant type that is no longer taken',
    'sign-on',
    ({ components }) => components.schemas.TokenRequest.oneOf.pop(),
    /removed .*RefreshTokenGrant.*oneOf/,
  ],
  [
    'a value taken from an enum of an event',
    'webhooks',
    ({ components }) => components.schemas.UserStatus.enum.pop(),
    /removed the `DELETED` enum value/,
  ],
  [
    'an event type taken away',
    'webhooks',
    ({ components }) => delete components.messages['worker.updated'],
    /worker\.updated/,
  ],
  [
    'an optional member taken from an answer',
    'gateway',
    ({ components }) => delete components.schemas.Problem.properties.errors,
    /removed the optional property/,
  ],
  [
    'an optional member taken from an event',
    'webhooks',
    ({ components }) => delete components.schemas.WorkerEventData.properties.offboardedAt,
    /removed the optional property/,
  ],
  [
    'an optional header taken from an answer',
    'gateway',
    ({ paths }) => {
      for (const { get } of Object.values<Contract>(paths)) {
        delete get.responses['200'].headers.Link;
      }
    },
    /the optional response header `link` removed/,
  ],
  [
    'an answer of another media type, although a kind of JSON',
    'gateway',
    ({ paths }) => {
      const { content } = paths['/v1/instance-integrations'].get.responses['200'];
      content['application/vnd.example+json'] = content['application/json'];
      delete content['application/json'];
    },
    /application\/vnd\.example\+json/,
  ],
  [
    'an error that is no longer documented',
    'gateway',
    ({ paths }) => delete paths['/v1/instance-integrations'].get.responses['429'],
    /removed the non-success response.*429/,
  ],
  [
    'a parameter taken away',
    'sign-on',
    ({ paths }) => paths['/auth/authorize'].get.parameters.pop(),
    /deleted the .* request parameter/,
  ],
  [
    'a parameter of all operations of a path taken away',
    'gateway',
    ({ paths }) => paths['/v1/instance-integrations'].parameters.pop(),
    /deleted the .* request parameter/,
  ],
  [
    'a member taken from a request',
    'sign-on',
    ({ components }) => delete components.schemas.RevocationRequest.properties.token_type_hint,
    /removed the request property/,
  ],
  [
    'a limit set for a parameter',
    'gateway',
    ({ components }) => {
      components.parameters.RequestId.schema.maxLength = 10;
    },
    /maxLength/,
  ],
  [
    'a limit set for a member of a request',
    'sign-on',
    ({ components }) => {
      components.schemas.AuthorizationForm.properties.max_age.maximum = 10;
    },
    /max/,
  ],
  [
    'another format of ids',
    'gateway',
    ({ components }) => {
      components.schemas.WorkerId.pattern = '^wrk_[0-9a-f]{22}$';
    },
    /response.* pattern was changed from `\^wrk_/,
  ],
  [
    'a renamed operation',
    'gateway',
    ({ paths }) => {
      paths['/v1/instance-integrations'].get.operationId = 'listIntegrations';
    },
    /listInstanceIntegrations/,
  ],
  [
    'a key in another header',
    'gateway',
    ({ components }) => {
      components.securitySchemes.apiKey.name = 'x-key';
    },
    /`apiKey` is sent in another way/,
  ],
  [
    'a client secret in another scheme',
    'sign-on',
    ({ components }) => {
      components.securitySchemes.clientBasic.scheme = 'bearer';
    },
    /`clientBasic` is sent in another way/,
  ],
  [
    'a signature in another header',
    'webhooks',
    ({ components }) => {
      components.securitySchemes.signature.name = 'x-signature';
    },
    /`signature` is sent in another way/,
  ],
  [
    'a parameter taken from what arrives at the redirect URI',
    'sign-on',
    ({ webhooks }) => webhooks['authorization-response'].get.parameters.shift(),
    /removed the optional property `code`/,
  ],
  [
    'a parameter that no longer always arrives at the redirect URI',
    'sign-on',
    ({ webhooks }) => {
      parameterOf(webhooks['authorization-response'].get, 'iss').required = false;
    },
    /`iss` became optional/,
  ],
  [
    'a member that no longer always arrives with form_post',
    'sign-on',
    ({ webhooks }) => {
      formOf(webhooks['authorization-response'].post).required = [];
    },
    /`iss` became optional/,
  ],
  [
    'a longer state at the redirect URI',
    'sign-on',
    ({ webhooks }) => {
      delete parameterOf(webhooks['authorization-response'].get, 'state').schema.maxLength;
    },
    /`state`.*maxLength/,
  ],
  [
    'a second key beside the released one',
    'gateway',
    (contract) => {
      contract.security = [{ apiKey: [], second: [] }];
    },
    /`listInstanceIntegrations` needs another credential/,
  ],
  [
    'another key for one operation',
    'gateway',
    ({ paths }) => {
      paths['/v1/instance-integrations'].get.security = [{ second: [] }];
    },
    /^`listInstanceIntegrations` needs another credential$/,
  ],
  [
    'a key for what was public',
    'sign-on',
    ({ paths }) => {
      paths['/.well-known/jwks.json'].get.security = [{ clientBasic: [] }];
    },
    /needs another credential/,
  ],
  [
    'a secret that public applications lack',
    'sign-on',
    ({ paths }) => {
      paths['/auth/token'].post.security = [{ clientBasic: [] }];
    },
    /needs another credential/,
  ],
  [
    'a scope that released tokens lack',
    'sign-on',
    ({ paths }) => {
      paths['/auth/userinfo'].get.security = [{ accessToken: ['profile'] }];
    },
    /needs another credential/,
  ],
  [
    'a new required member of an answer, which SDKs would require of earlier services too',
    'gateway',
    ({ components }) => addRequired(components.schemas.TenantClient),
    /`TenantClient.taxNumber` is required/,
  ],
  [
    'a member of an answer that becomes required',
    'sign-on',
    ({ components }) => components.schemas.IssuedTokens.required.push('refresh_token'),
    /`IssuedTokens.refresh_token` is required/,
  ],
  [
    'a new required member of an event, which SDKs would require of earlier events too',
    'webhooks',
    ({ components }) => addRequired(components.schemas.ClientCreatedData),
    /`ClientCreatedData.taxNumber` is required/,
  ],
  [
    'an operation that becomes a page for browsers',
    'sign-on',
    ({ paths }) => {
      paths['/auth/userinfo'].get['x-internal'] = true;
    },
    /userinfo/,
  ],
];

const welcome: [what: string, contract: string, edit: Edit][] = [
  [
    'a new member of an answer',
    'gateway',
    ({ components }) => {
      components.schemas.TenantClient.properties.taxNumber = { type: 'string' };
    },
  ],
  [
    'a new optional parameter',
    'gateway',
    ({ paths }) => {
      paths['/v1/instance-integrations'].get.parameters = [
        { name: 'q', in: 'query', schema: { type: 'string' } },
      ];
    },
  ],
  [
    'a new member of an event',
    'webhooks',
    ({ components }) => {
      components.schemas.ClientCreatedData.properties.taxNumber = { type: 'string' };
    },
  ],
  [
    'an operation that is deprecated and ends in later years',
    'gateway',
    ({ paths }) => {
      Object.assign(paths['/v1/instance-integrations'].get, { deprecated: true, 'x-sunset': '2999-01-01' });
    },
  ],
  [
    'a further way to authenticate',
    'gateway',
    (contract) => {
      contract.security.push({ second: [] });
    },
  ],
  [
    'a credential that is no longer needed',
    'sign-on',
    ({ paths }) => {
      paths['/auth/userinfo'].get.security = [];
    },
  ],
  [
    'a state that always arrives at the redirect URI, with a new parameter',
    'sign-on',
    ({ webhooks }) => {
      const { get, post } = webhooks['authorization-response'];
      parameterOf(get, 'state').required = true;
      get.parameters.push({ name: 'session_state', in: 'query', required: true, schema: { type: 'string' } });
      formOf(post).required.push('state');
    },
  ],
  [
    'another page for browsers',
    'sign-on',
    ({ paths }) => {
      delete paths['/auth/password-set'];
      paths['/auth/sign-in'].get.parameters = [];
    },
  ],
];

describeWith('go', 'a change of an HTTP or event contract', () => {
  test.each(refused)(
    '%s is refused',
    async (_, name, edit, said) => {
      const present = structuredClone(await readBundle<Contract>(releasedDir, name));
      edit(present);
      const found = await breakingInDocument(name, await readBundle(releasedDir, name), present);
      expect(found.join('\n')).toMatch(said);
    },
    BUILDS_OASDIFF_MS,
  );

  test.each(welcome)(
    '%s is compatible',
    async (_, name, edit) => {
      const present = structuredClone(await readBundle<Contract>(releasedDir, name));
      edit(present);
      expect(await breakingInDocument(name, await readBundle(releasedDir, name), present)).toEqual([]);
    },
    BUILDS_OASDIFF_MS,
  );

  test(
    'what breaks the released contracts is not released',
    async () => {
      const [present, released] = [newDirectory(), newDirectory()];
      for (const folder of [present, released]) {
        await cp(releasedDir, folder, { recursive: true });
      }
      const contract = await readBundle<Contract>(present, 'gateway');
      delete contract.paths['/v1/instance-integrations'];
      await writeFile(bundlePath(present, 'gateway'), JSON.stringify(contract));
      await expect(release(present, released)).rejects.toThrow(/break the released ones:\ngateway: /);
      expect(await readBundle(released, 'gateway')).toEqual(await readBundle(releasedDir, 'gateway'));
    },
    BUILDS_OASDIFF_MS,
  );
});

const MAINTENANCE = 'integration/maintenance/v1/maintenance.proto';

test.each([
  ['a renamed field', 'PurgedKind kind = 1;', 'PurgedKind type = 1;', /changed name from "kind" to "type"/],
  ['a reused number', 'uint32 count = 2;', 'bool shown = 2;', /changed type/],
  ['a removed method', /\n {2}rpc PurgeExpired\(.*\n/, '\n', /"PurgeExpired".* was deleted/],
])('%s of the gRPC contract is refused', async (_, from, to, said) => {
  const copy = newDirectory();
  await cp(join(root, 'proto'), copy, { recursive: true });
  const source = await readFile(join(copy, MAINTENANCE), 'utf8');
  const edited = source.replace(from, to);
  expect(edited).not.toBe(source);
  await writeFile(join(copy, MAINTENANCE), edited);
  expect((await breakingInProto(copy)).join('\n')).toMatch(said);
});

test('what is released was made from the contracts right before', async () => {
  expect(await readFile(join(root, 'Makefile'), 'utf8')).toMatch(
    /^release: generate .*\n\t@tsx src\/codegen\/main\.ts release$/m,
  );
});

test('the present gRPC contract is compatible', async () => {
  expect(await breakingInProto(join(root, 'proto'))).toEqual([]);
});

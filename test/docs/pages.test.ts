import { describe, expect, test } from '@jest/globals';
import { Contract } from '../../src/docs/contract.js';
import { renderSite } from '../../src/docs/site.js';
import { readSources } from '../../src/docs/sources.js';
import { toProblem } from '../../src/edge/problem.js';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';
import { type HttpOperation, httpOperations } from '../architecture/surface.js';
import { contractDocument } from '../support/contract/contract-document.js';
import { renderedSite } from '../support/docs-server.js';
import { pagesOf } from './markup.js';

const site = renderedSite();
const pages = pagesOf(site);

describe.each(pages.map((page) => [page.path, page] as const))('the page %s', (_, page) => {
  test('has one heading of the first level, and no level left out below it', () => {
    const levels = page.headings.map(({ level }) => level);
    expect(levels[0]).toBe(1);
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    const leaps = page.headings.filter(({ level }, at) => level > (levels[at - 1] ?? 1) + 1);
    expect(leaps).toEqual([]);
    expect(page.headings.filter(({ text }) => text.trim() === '')).toEqual([]);
  });

  test('uses each id once', () => {
    expect(page.ids.filter((id, at) => page.ids.indexOf(id) !== at)).toEqual([]);
  });

  test('requests only this server, and has no inline script or style', () => {
    expect(page.text.match(/\s(?:style|on[a-z]+)="/g)).toBeNull();
    expect(page.text.match(/<style|<iframe|<img|<script(?!(?: type="module")? src="\/docs\/)/g)).toBeNull();
    expect(page.text.match(/\ssrc="(?!\/docs\/)/g)).toBeNull();
  });

  test('has no unfilled placeholder', () => {
    expect(
      page.text.match(/xPLACEx|\{\{(?!(?:(?:gateway|signOn|demoGateway)Url|\w+Id=\w+)\}\})/g),
    ).toBeNull();
    // Programs may say whatever they like.
    const prose = page.text.replace(/<pre>[\s\S]*?<\/pre>/g, '');
    expect(prose.match(/\bundefined\b|\[object Object\]/g)).toBeNull();
    expect(prose.replace(/<code>[\s\S]*?<\/code>/g, '')).not.toContain('`');
  });
});

const idsUnder = (folder: string) =>
  pages.filter(({ path }) => path.startsWith(folder)).flatMap(({ ids }) => ids);

describe.each(['gateway', 'sign-on'] as const)('the reference of %s', (api) => {
  const ids = idsUnder(`/docs/reference/${api}`);
  const isForPrograms = ({ path, operationId }: HttpOperation) => {
    const operations = Object.values(contractDocument(api).paths?.[path] ?? {}) as Record<string, unknown>[];
    return !operations.some((operation) => operation.operationId === operationId && operation['x-internal']);
  };
  const operations = httpOperations(api).filter(isForPrograms);

  test('describes every operation under its id, and none of the pages that people see', () => {
    const described = httpOperations(api).filter(({ operationId }) => ids.includes(operationId));
    expect(described.map(({ operationId }) => operationId)).toEqual(
      operations.map(({ operationId }) => operationId),
    );
    expect(operations.length).toBeGreaterThan(9);
  });

  test('shows every status of every operation', () => {
    const missing = operations.flatMap(({ operationId, statuses }) => {
      const page = pages.find((one) => one.ids.includes(operationId));
      const section = page?.text.split(`id="${operationId}"`)[1]?.split('<section')[0] ?? '';
      return statuses
        .filter((status) => !section.includes(`>${status}</span>`))
        .map((status) => `${operationId} ${status}`);
    });
    expect(missing).toEqual([]);
  });

  test('describes every schema that programs meet', () => {
    const schemas = Object.keys(contractDocument(api).components?.schemas ?? {});
    const forms = [
      'SignIn',
      'Cancel',
      'ChooseContext',
      'Consent',
      'SetPassword',
      'VerifyEmail',
      'ChangeEmail',
    ];
    const ofPages = [
      ...[...forms, 'SignOut'].map((name) => `${name}Form`),
      'CsrfToken',
      'Interaction',
      'LinkToken',
    ];
    const left = schemas.filter((name) => !ids.includes(name));
    expect(left.sort()).toEqual(api === 'gateway' ? [] : ofPages.sort());
  });
});

test('the reference says where a credential may be in the body', () => {
  const sections = pages.flatMap(({ text }) => text.split('<section class="operation">').slice(1));
  const inBody = sections.filter((section) => section.includes(', or credentials in the body</p>'));
  const ids = inBody.map((section) => /id="(\w+)"/.exec(section)?.[1]);
  expect(ids.sort()).toEqual(['introspect', 'revoke', 'token', 'userinfoPost']);
});

describe('the codes of errors', () => {
  const { gateway, signOn } = readSources();
  const contracts = { gateway, 'sign-on': signOn };
  const codesOf = (api: 'gateway' | 'sign-on') =>
    Object.entries(contracts[api].schemas()).flatMap(([name, schema]) =>
      /Code$/.test(name) ? ((schema.enum ?? []) as string[]) : [],
    );

  test.each([
    ['gateway', '/docs/errors', 19],
    ['sign-on', '/docs/reference/sign-on/errors', 19],
  ] as const)('of %s have an anchor each', (api, path, least) => {
    const codes = new Set(codesOf(api));
    expect(codes.size).toBeGreaterThanOrEqual(least);
    const ids = idsUnder(path);
    expect([...codes].filter((code) => !ids.includes(code))).toEqual([]);
  });

  test('of the gateway are where the `type` of a problem leads', () => {
    const ids = idsUnder('/docs/errors');
    for (const code of Object.values(ErrorCode)) {
      const { type } = JSON.parse(String(toProblem(new ServiceError(code, 'A sentence.'), 'request-1').body));
      const [path, anchor] = type.split('#');
      expect([path, ids.includes(anchor)]).toEqual(['/docs/errors', true]);
    }
  });

  test('of the gateway stand under their status, with an answer that the contract has', () => {
    const page = pages.find(({ path }) => path === '/docs/errors')?.text ?? '';
    const section = page.split('id="401"')[1]?.split('<h2')[0] ?? '';
    expect(section).toContain('401 Unauthorized');
    expect([...section.matchAll(/<h3 id="(\w+)"/g)].map(([, code]) => code)).toEqual([
      'api_key_missing',
      'api_key_malformed',
      'api_key_unknown',
      'api_key_expired',
      'api_key_wrong_environment',
    ]);
    expect(section.match(/<pre>/g)).toHaveLength(5);
  });

  test('are linked from guides, except those that both interfaces have', () => {
    const guide = pages.find(({ path }) => path === '/docs/start');
    expect(guide?.links).toContain('/docs/errors#api_key_missing');
    const linked = pages.filter(({ path }) => /^\/docs\/[^/]+$/.test(path)).flatMap(({ links }) => links);
    expect(linked.filter((href) => /^\/.*errors#invalid_request$/.test(href))).toEqual([]);
  });
});

test('the reference says what a parameter is when it is left out', () => {
  const page = pages.find(({ ids }) => ids.includes('listChanges'));
  expect(page?.text).toContain('<dt>Default</dt><dd><code>1000</code></dd>');
});

describe('what the contract marks as deprecated', () => {
  const sources = readSources();
  const contract = new Contract(structuredClone(sources.gateway.document));
  const { paths, components } = contract.document;
  const mark = (target: object | undefined, day?: string) =>
    Object.assign(target ?? {}, { deprecated: true }, day && { 'x-sunset': day });
  mark(paths['/v1/instance-integrations']?.get, '2028-01-01');
  mark(components.schemas.TenantClient?.properties?.name, '2028-02-02');
  mark(components.parameters?.Limit);
  const files = renderSite({ ...sources, gateway: contract });
  const bodyOf = (path: string) => files.find((file) => file.path === path)?.body ?? '';

  test.each([
    ['an operation', '/docs/reference/gateway/instance-integrations', 'Deprecated, ends 2028-01-01'],
    ['an operation, in the overview', '/docs/reference/gateway', 'Deprecated, ends 2028-01-01'],
    ['a member', '/docs/reference/gateway/schemas', 'Deprecated, ends 2028-02-02'],
    ['a parameter', '/docs/reference/gateway/users', 'Deprecated<'],
  ])('is marked on its pages, with the day of its end: %s', (_, path, words) => {
    expect(bodyOf(path)).toContain(`<span class="deprecated">${words}`);
    expect(bodyOf(`${path}.md`)).toContain(words.replace('<', ''));
  });
});

test('the reference of the webhooks describes every event under its type, with an example', () => {
  const { document } = readSources().webhooks;
  const types = Object.keys(document.components.messages ?? {});
  expect(types.length).toBe(9);
  const ids = idsUnder('/docs/reference/webhooks');
  expect(types.filter((type) => !ids.includes(type) || !ids.includes(`${type}-example`))).toEqual([]);
});

test('hints of the forms name ids of the directory as placeholders, which a demo replaces with its own', () => {
  const hints = pages.flatMap(({ text }) => text.match(/<p class="hint"[^>]*>[^<]*<\/p>/g) ?? []);
  const ids = hints.filter((hint) => />Such as \S*(?:iin|cli|wrk|usr)_\w{22}\W*</.test(hint));
  expect(ids.length).toBeGreaterThan(10);
  expect(ids.filter((hint) => !/\{\{\w+Id=\w+\}\}/.test(hint))).toEqual([]);
});

test('a form asks for an access token once', () => {
  const forms = pages.flatMap(({ text }) => text.match(/<form class="try-form"[\s\S]*?<\/form>/g) ?? []);
  const asking = forms.filter((form) => form.includes('data-where="bearer"'));
  expect(asking.map((form) => form.match(/<label[^>]*><code>access.token</gi)?.length)).toEqual([1, 1]);
});

test('no page of the references names an address that the contracts have for examples', () => {
  const naming = pages.filter(({ text }) =>
    /(?:gateway|sign-on)\.example\.com/.test(text.replace(/<pre>[\s\S]*?<\/pre>/g, '')),
  );
  expect(naming.map(({ path }) => path).filter((path) => path.startsWith('/docs/reference/'))).toEqual([]);
});

test('what arrives at the redirect URI is described beside what leads to it', () => {
  expect(idsUnder('/docs/reference/sign-on/authorization')).toContain('authorizationResponse');
  expect(idsUnder('/docs/reference/sign-on/schemas')).toContain('AuthorizationErrorCode');
  expect(idsUnder('/docs/reference/sign-on/errors')).toContain('login_required');
});

test('rendering again gives the same bytes', async () => {
  const { renderSite } = await import('../../src/docs/site.js');
  expect(renderSite(readSources())).toEqual(site);
});

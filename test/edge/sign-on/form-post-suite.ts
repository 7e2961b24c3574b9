import { expect, test } from '@jest/globals';
import { SEND_FORM } from '../../../src/edge/pages/endings.js';
import { expectErrorPage, expectOwnScripts, expectPage, type Operation } from './refusals.js';
import type { SignOnServer } from './server.js';

const FRESH = 'bmV3dmFsdWVuZXd2YWx1ZW5ld3ZhbHVlbmV3dmFsdWU';

const POST = {
  action: 'https://app.example.com/callback?own=1&other="2"',
  fields: [
    { name: 'code', value: 'a-code' },
    { name: 'state', value: '"><script>alert(1)</script> ü' },
    { name: 'iss', value: 'https://sign-on.example.com' },
  ],
  applicationName: 'Northwind <Scheduling>',
  formActionSource: 'https://app.example.com',
};

/** The answer to the application as a form, from an operation that can end an authorization. */
export function testFormPost(
  { operationId, path, method, question }: Operation,
  present: () => SignOnServer,
  answerOf: (step: object) => object = (step) => ({ step }),
): void {
  const leavesWith = (changes: object, sessionCookie?: object) => {
    const step = { result: { $case: 'formPost', value: { ...POST, ...changes } }, sessionCookie };
    present().program({ [method]: async () => answerOf(step) as never });
    return present().ask(operationId, path, question);
  };

  test('200: the answer leaves with a form, as text and for the redirect URI alone', async () => {
    const answer = await leavesWith({}, { change: { $case: 'setValue', value: FRESH } });
    expectPage(answer, 200, 'Back to <bdi>Northwind &lt;Scheduling&gt;</bdi>', 'strict-origin');
    expect(answer.headers.location).toBeUndefined();
    expect(answer.headers['set-cookie']).toEqual([expect.stringContaining(FRESH)]);
    const action = 'https://app.example.com/callback?own=1&amp;other=&quot;2&quot;';
    expect(answer.body.match(/<form [^>]*>/g)).toEqual([`<form method="post" action="${action}">`]);
    expect(answer.body.match(/<input [^>]*>/g)).toEqual([
      '<input type="hidden" name="code" value="a-code">',
      '<input type="hidden" name="state" value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt; ü">',
      '<input type="hidden" name="iss" value="https://sign-on.example.com">',
    ]);
    expect(answer.body).toMatch(/<button id="continue" type="submit">/);
  });

  test('200: its one script is allowed by its hash, and no other', async () => {
    const answer = await leavesWith({});
    expectOwnScripts(answer, [SEND_FORM]);
    expect(answer.headers['content-security-policy']).toContain("; form-action 'self' https:; ");
  });

  test.each(['javascript:alert(1)', 'data:text/html,x', 'com.example.app:/callback', '//evil.example', ''])(
    '500: no form leads to %j',
    async (action) => {
      expectErrorPage(await leavesWith({ action }), 500, 'We could not complete this.');
    },
  );
}

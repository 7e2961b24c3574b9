import { describe, expect, test } from '@jest/globals';
import { problemBelowContracts, UNREADABLE_STATUSES } from '../../src/edge/http/unreadable.js';
import { EXPLANATIONS } from '../../src/edge/problem.js';
import { contractDocument } from '../support/contract/contract-document.js';

interface UnreadRequests {
  mediaType: string;
  answers: Record<string, { code: string; message: string }>;
}

describe.each(['gateway', 'sign-on'] as const)('the document of %s', (api) => {
  const document = contractDocument(api) as unknown as {
    info: { description: string };
    'x-unread-requests': UnreadRequests;
  };
  const { mediaType, answers } = document['x-unread-requests'];

  test('declares each answer below its paths, word for word, and no other', () => {
    expect(Object.keys(answers).map(Number).sort()).toEqual([...UNREADABLE_STATUSES].sort());
    const explanations = api === 'gateway' ? EXPLANATIONS : undefined;
    for (const status of UNREADABLE_STATUSES) {
      const { headers, body } = problemBelowContracts(status, 'a-request', explanations);
      expect(headers).toMatchObject({ 'content-type': mediaType });
      const { type, code, message, requestId } = JSON.parse(body);
      expect(type).toBe(api === 'gateway' ? `/docs/errors#${code}` : 'about:blank');
      expect({ code, message, requestId }).toEqual({ ...answers[status], requestId: 'a-request' });
    }
  });

  test('names each of them where it describes errors', () => {
    const errors = document.info.description.split('## Errors')[1]?.split('\n## ')[0] ?? '';
    expect(UNREADABLE_STATUSES.filter((status) => !errors.includes(String(status)))).toEqual([]);
    expect(errors).toContain('`x-unread-requests`');
    expect(errors).toContain('400 (also without `Host`, with two, or with an unknown method)');
    expect(errors.replaceAll(/\s+/g, ' ')).toContain('408 (its header fields are not here in time)');
    expect(errors).toContain(api === 'gateway' ? '/docs/errors#' : '`type` is `about:blank`');
  });
});
